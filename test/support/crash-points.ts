/** `all`, or a number, for a longer run. */
const asked = process.env['CRASH_POINTS'];
const isAsked = asked !== undefined;
const HOUR_MS = 3_600_000;

/**
 * The commands at which a process is killed, for fail-point.mjs: `before:#7`, `after:#7`. A sample spread evenly over
 * all commands, before or after each; with `CRASH_POINTS=all`, before and after each command.
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

/** The smallest number of commands: a slow process polls the store more often. */
export async function fewestCommands(count: () => Promise<number>): Promise<number> {
  const counts = [await count(), await count(), await count()];
  return Math.min(...counts);
}

/** The time limit of a test that kills processes at such points. */
export function crashTime(ofSampleMs: number): number {
  return isAsked ? HOUR_MS : ofSampleMs;
}
