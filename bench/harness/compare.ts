import { loadavg } from 'node:os';
import { needRedis } from './redis-server.js';
import { endWhenCutShort, readOptions } from './rounds.js';

/** A benchmark of one round: what it measures, what it should have come to, and how it is shown. */
export interface Comparison<F extends object> {
  readonly measure: (isLarge: boolean) => Promise<F>;
  readonly missedTargets: (figures: F) => string[];
  readonly table: (figures: F, missed: readonly string[]) => string;
}

/** Measures once, and prints it for people or, with --json, for a machine; the exit code says whether the targets hold. */
export async function compare<F extends object>(comparison: Comparison<F>): Promise<void> {
  const { json, large } = readOptions();
  endWhenCutShort();
  const version = await needRedis();
  const loadBefore = loadavg()[0]!;
  const figures = await comparison.measure(large);
  const missed = comparison.missedTargets(figures);
  const load = { before: loadBefore, after: loadavg()[0]! };
  console.log(
    json
      ? JSON.stringify({ redis: version, load, ...figures, missed }, null, 2)
      : `${comparison.table(figures, missed)}\nThe machine's load: ${load.before.toFixed(1)} before, ${load.after.toFixed(1)} after.`,
  );
  process.exitCode = missed.length > 0 ? 1 : 0;
}
