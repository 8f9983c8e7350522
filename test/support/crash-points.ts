/** `all`, or a number: for a run that takes its time. */
const asked = process.env['CRASH_POINTS'];
const isAsked = asked !== undefined;
const HOUR_MS = 3_600_000;

/**
 * At which of its commands a process is killed, for fail-point.mjs: `before:#7`, `after:#7`. A sample that is spread evenly over all of
 * them, from either side; each of them from both sides with `CRASH_POINTS=all`.
 */
export function crashPoints(commands: number, sampled: number, random: () => number = Math.random): string[] {
  const all = commands * 2;
  const wanted = isAsked ? (asked === 'all' ? all : Number(asked)) : sampled;
  if (!(wanted > 0)) throw new TypeError(`CRASH_POINTS=${asked} is neither a number nor all.`);
  const count = Math.min(all, wanted);
  const step = all / count;
  return Array.from({ length: count }, (_, i) => {
    const at = Math.floor(i * step + random() * step);
    return `${at % 2 === 0 ? 'before' : 'after'}:#${1 + Math.floor(at / 2)}`;
  });
}

/** How many commands it takes at least: one that is slow looks more often how long others wait for the store. */
export async function fewestCommands(count: () => Promise<number>): Promise<number> {
  const counts = [await count(), await count(), await count()];
  return Math.min(...counts);
}

/** How long a test that dies at such points may take. */
export function crashTime(ofSampleMs: number): number {
  return isAsked ? HOUR_MS : ofSampleMs;
}
