import { endWhenCutShort, readOptions } from '../harness/rounds.js';
import { needRedis } from '../harness/redis-server.js';
import { backlog, missedBacklog } from './backlog.js';
import { BenchStore } from './bench-store.js';
import { enqueued } from './enqueued.js';
import { processed } from './processed.js';
import { missedTargets, table } from './report.js';
import { storeCost } from './store-cost.js';

/*
 * Measures the cost of the lifecycle beside plain BullMQ, in the same run and on the same store.
 *   node dist/bench/lifecycle/lifecycle.bench.js [--json] [--rounds N] [--large]
 */
const { rounds, json, large } = readOptions();
endWhenCutShort();

const version = await needRedis();

const store = await BenchStore.start();
try {
  const figures = [
    ...(await enqueued(store, rounds)),
    ...(await processed(store, rounds)),
    ...(await storeCost(store, Math.min(rounds, 3))),
  ];
  const backlogs = await backlog(store, Math.min(rounds, 3), large);
  const missed = [...missedTargets(figures), ...missedBacklog(backlogs)];
  console.log(
    json
      ? JSON.stringify({ redis: version, rounds, figures, backlogs, missed }, null, 2)
      : table(figures, backlogs, missed),
  );
  process.exitCode = missed.length > 0 ? 1 : 0;
} finally {
  await store.stop();
}
