import { loadavg } from 'node:os';
import { needRedis } from '../harness/redis-server.js';
import { endWhenCutShort, readOptions } from '../harness/rounds.js';
import { underBacklog } from './backlog.js';
import { CancelStore } from './cancel.store.js';
import { manyJobs } from './many.js';
import { missedTargets, table } from './report.js';
import { told } from './told.js';

/*
 * Measures the cost of cancelling an owner while other jobs wait, for Mooring and, in the same run and on the same
 * store, for the usual way: load every job, filter, remove. Also measures how soon running jobs are told.
 *   node dist/bench/cancel/cancel.bench.js [--json] [--rounds N] [--large]
 */
const { rounds, json, large } = readOptions();
endWhenCutShort();
const version = await needRedis();

const loadBefore = loadavg()[0]!;
const store = await CancelStore.start();
try {
  // First, while nothing waits that the workers would take.
  const soon = await told(store);
  const backlogs = await underBacklog(store, rounds, large);
  const figures = { backlogs, many: await manyJobs(store), told: soon };
  const missed = missedTargets(figures);
  const load = { before: loadBefore, after: loadavg()[0]! };
  console.log(
    json
      ? JSON.stringify({ redis: version, rounds, load, ...figures, missed }, null, 2)
      : `${table(figures, missed)}\nThe machine's load: ${load.before.toFixed(1)} before, ${load.after.toFixed(1)} after.`,
  );
  process.exitCode = missed.length > 0 ? 1 : 0;
} finally {
  await store.stop();
}
