import type { Extra } from './extras.js';

/** How each side adds and runs jobs. All get the same payload, priority and retention, as far as they have them. */
export const SIDES = {
  plain: "BullMQ's Queue and Worker",
  core: 'MooredQueue.enqueue and enqueueBulk, MooredWorker; a limit on the queue is checked with each add',
  'core-add': 'MooredQueue.add and addBulk, with the same limit',
  'core-unlimited': 'as core, without a limit on the queue',
  nestjs: 'a kind in a Nest application: Enqueuer, and a handler with its processor',
  'pg-boss': 'pg-boss on PostgreSQL',
  'graphile-worker': 'graphile-worker on PostgreSQL',
} as const;
export type SideName = keyof typeof SIDES;
export type RivalName = 'pg-boss' | 'graphile-worker';

export const DEFAULT_SIDES: readonly SideName[] = ['plain', 'core', 'core-add', 'nestjs'];

export function isSide(word: string): word is SideName {
  return Object.hasOwn(SIDES, word);
}

export function isRival(side: SideName): side is RivalName {
  return side === 'pg-boss' || side === 'graphile-worker';
}

/** Only sides on BullMQ know owners, in whatever number, and slots. */
export function sidesAsked(
  sides: readonly SideName[],
  { perOwner = 1, extra }: { readonly perOwner?: number | undefined; readonly extra?: Extra | undefined },
): SideName[] {
  const isForAll = perOwner === 1 && (extra === undefined || extra === 'dedup');
  return sides.filter((side) => isForAll || !isRival(side));
}

/** Of the sides that differ only in how they add jobs, the first one runs them for all. */
export function sidesThatRun(sides: readonly SideName[]): SideName[] {
  const seen = new Set<string>();
  return sides.filter((side) => {
    const worker = side.startsWith('core') ? 'core' : side;
    return !seen.has(worker) && seen.add(worker);
  });
}
