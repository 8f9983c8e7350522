import { Redis } from 'ioredis';
import { BenchProcess } from '../harness/bench-process.js';
import { compare } from '../harness/compare.js';
import { Prober } from '../harness/prober.js';
import { startRedis } from '../harness/redis-server.js';
import type { Filled } from './api.process.js';
import type { Shape } from './fill.js';
import { LISTS } from './lists.js';
import { Pages, type Cost } from './pages.js';
import { missedTargets, table, type Figures } from './report.js';

/*
 * Measures how long the lists of the HTTP interface take, their first and their hundredth page, and how long other clients of the store wait
 * meanwhile.
 *   node dist/bench/find/find.bench.js [--json] [--large]
 */
const SHAPES = { small: { jobs: 100_000, owners: 1_000 }, large: { jobs: 1_000_000, owners: 10_000 } };
const QUIET_MS = 500;
const ROUNDS = 5;

await compare({ measure: (isLarge) => measure(SHAPES[isLarge ? 'large' : 'small']), missedTargets, table });

async function measure(shape: Shape): Promise<Figures> {
  const store = await startRedis();
  const redis = new Redis(store.url, { maxRetriesPerRequest: null });
  const api = await BenchProcess.start(new URL('api.process.js', import.meta.url), [store.url]);
  const prober = await Prober.start(store);
  try {
    const { port } = await api.ask<Filled>(shape);
    const pages = new Pages(`http://127.0.0.1:${port}`, redis, prober, ROUNDS);
    const lists: Cost[] = [];
    for (const list of LISTS) lists.push(await pages.read(list));
    return { shape, quiet: await prober.quiet(QUIET_MS), lists };
  } finally {
    await prober.stop();
    await api.stop();
    redis.disconnect();
    await store.stop();
  }
}
