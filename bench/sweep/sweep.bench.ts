import { loadavg } from 'node:os';
import { redisVersion } from '../harness/redis-server.js';
import { endWhenCutShort, readOptions } from '../harness/rounds.js';
import { missedTargets, table, type Figures } from './report.js';
import { SweepStore } from './sweep.store.js';
import type { Shape } from './trips.js';

/*
 * What does it take to find the jobs whose owners are gone, and to end them? Asked of the sweep and, in the same run and on
 * the same jobs, of the seeds' way: load every job, ask for the trip of each, remove.
 *   node dist/bench/sweep/sweep.bench.js [--json] [--large]
 */
const SHAPES = { small: { trips: 2_000, each: 100 }, large: { trips: 3_000, each: 100 } };
const QUIET_MS = 500;

const { json, large } = readOptions();
endWhenCutShort();
const version = await redisVersion();
if (version === undefined) {
  console.error('This benchmark needs a redis-server on the PATH.');
  process.exit(1);
}

const loadBefore = loadavg()[0]!;
const figures = await measure(SHAPES[large ? 'large' : 'small']);
const missed = missedTargets(figures);
const load = { before: loadBefore, after: loadavg()[0]! };
console.log(
  json
    ? JSON.stringify({ redis: version, load, ...figures, missed }, null, 2)
    : `${table(figures, missed)}\nThe machine's load: ${load.before.toFixed(1)} before, ${load.after.toFixed(1)} after.`,
);
process.exitCode = missed.length > 0 ? 1 : 0;

async function measure(shape: Shape): Promise<Figures> {
  const store = await SweepStore.start(shape);
  try {
    const quiet = await store.quiet(QUIET_MS);
    return { shape, quiet, ours: await store.sweep('ours'), seeds: await store.sweep('seeds') };
  } finally {
    await store.stop();
  }
}
