import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { rmSync } from 'node:fs';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchProcess } from '../harness/bench-process.js';
import { compare } from '../harness/compare.js';
import { Prober } from '../harness/prober.js';
import { startRedis } from '../harness/redis-server.js';
import { finishJobs } from './finished.js';
import { missedTargets, table, type Figures } from './report.js';
import { KEPT, PREFIX, render } from './retention.app.js';
import type { Sweeping } from './sweeper.process.js';

/*
 * Measures the cost of removing finished jobs with an artifact each, and how long other clients of the store wait meanwhile.
 *   node dist/bench/retention/retention.bench.js [--json] [--large]
 */
const JOBS = { small: 20_000, large: 100_000 };
const QUIET_MS = 500;

await compare({ measure: (isLarge) => measure(JOBS[isLarge ? 'large' : 'small']), missedTargets, table });

async function measure(jobs: number): Promise<Figures> {
  const store = await startRedis();
  const redis = new Redis(store.url, { maxRetriesPerRequest: null });
  const folder = await mkdtemp(join(tmpdir(), 'mooring-bench-artifacts-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await finishJobs(redis, folder, jobs);
  const prober = await Prober.start(store);
  const entry = new URL('sweeper.process.js', import.meta.url);
  const sweeper = await BenchProcess.start(entry, [store.url, folder]);
  try {
    const quiet = await prober.quiet(QUIET_MS);
    const { answer, waited } = await prober.during(() => sweeper.ask<Sweeping>({}));
    await expectLeft(redis, folder);
    return { jobs, quiet, ...answer, stall: waited };
  } finally {
    await sweeper.stop();
    await prober.stop();
    redis.disconnect();
    await store.stop();
  }
}

async function expectLeft(redis: Redis, folder: string): Promise<void> {
  const queue = new Queue(render.queue, { connection: redis, prefix: PREFIX });
  const left = await queue.getCompletedCount();
  await queue.close();
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((each) => each.isFile() && !each.parentPath.endsWith('/fleets')).length;
  if (left !== KEPT || files !== KEPT)
    throw new Error(`${left} jobs and ${files} artifacts are left, not ${KEPT} of each`);
}
