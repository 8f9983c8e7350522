import { median } from '../harness/median.js';
import { endWhenCutShort, readOptions } from '../harness/rounds.js';
import { answeredConnections } from './connections.js';
import { afterKilledWorker } from './killed.worker.js';
import { loneCommandMs } from './lone.command.js';
import { noticed } from './noticed.js';
import { processedPerSecond } from './processed.jobs.js';
import { missedTargets, table, type Figures } from './report.js';
import { embedded, redisServer, type Store, type StoreKind } from './stores.js';

/*
 * Measures whether the embedded store is good enough to begin with, beside the redis-server on the PATH in the same run.
 *   node dist/bench/embedded/embedded.bench.js [--json] [--rounds N]
 */
const { rounds, json } = readOptions();
endWhenCutShort();

const redis = await redisServer();
if (!redis) console.error('No redis-server on the PATH: the embedded store is measured alone.');

const figures = await measure(redis ? [embedded, redis] : [embedded]);
const missed = missedTargets(figures);
console.log(json ? JSON.stringify({ rounds, stores: figures, missed }, null, 2) : table(figures, missed));
process.exitCode = missed.length > 0 ? 1 : 0;

async function measure(kinds: readonly StoreKind[]): Promise<Figures[]> {
  const stores: Store[] = [];
  try {
    for (const kind of kinds) stores.push(await kind.start());
    const perSecond = await processed(stores);
    const all: Figures[] = [];
    for (const [i, store] of stores.entries()) {
      all.push({
        name: kinds[i]!.name,
        loneCommandMs: await loneCommandMs(store),
        processedPerSecond: perSecond[i]!,
        medianPerSecond: median(perSecond[i]!),
        connections: await answeredConnections(store),
        killedWorker: await afterKilledWorker(store),
        noticed: await noticed(kinds[i]!),
      });
    }
    return all;
  } finally {
    await Promise.all(stores.map((store) => store.stop()));
  }
}

// The stores take turns, so that a busy minute of the machine is a busy minute for both. Round 0 warms up.
async function processed(stores: readonly Store[]): Promise<number[][]> {
  const rates: number[][] = stores.map(() => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [i, store] of stores.entries()) {
      const rate = await processedPerSecond(store, round);
      if (round > 0) rates[i]!.push(rate);
    }
  }
  return rates;
}
