/** How each side adds and runs jobs. All get the same payload, priority and retention. */
const SIDES = {
  plain: "BullMQ's Queue and Worker",
  core: 'MooredQueue.enqueue and enqueueBulk, MooredWorker; a limit on the queue is checked with each add',
  'core-add': 'MooredQueue.add and addBulk, with the same limit',
  'core-unlimited': 'as core, without a limit on the queue',
  lifecycle: 'the lifecycle in a Nest application',
} as const;
export type SideName = keyof typeof SIDES;

export const DEFAULT_SIDES: readonly SideName[] = ['plain', 'core', 'core-add', 'lifecycle'];

export function isSide(word: string): word is SideName {
  return word in SIDES;
}

/** Of the sides that differ only in how they add jobs, the first one runs them for all. */
export function sidesThatRun(sides: readonly SideName[]): SideName[] {
  const seen = new Set<string>();
  return sides.filter((side) => {
    const worker = side.startsWith('core') ? 'core' : side;
    return !seen.has(worker) && seen.add(worker);
  });
}
