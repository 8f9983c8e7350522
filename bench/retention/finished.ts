import { MooredQueue, MooredWorker } from '#core';
import { newJobId } from '#nestjs';
import type { Redis } from 'ioredis';
import { artifactsIn, PREFIX, render } from './retention.app.js';

const AT_ONCE = 2_000;
const CONCURRENCY = 100;
const OWNERS = 1_000;

/** Finished jobs with an artifact each, as the fleet leaves them; by the core's worker, which has fewer steps to make. */
export async function finishJobs(redis: Redis, folder: string, count: number): Promise<void> {
  const artifacts = artifactsIn(folder, redis);
  const connected = { connection: redis, prefix: PREFIX };
  const queue = new MooredQueue(render.queue, connected);
  for (let from = 0; from < count; from += AT_ONCE)
    await queue.addBulk(Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => jobOf(from + i)));

  const worker = new MooredWorker(
    render.queue,
    async (job) => {
      const run = { jobId: job.id!, fence: '1' };
      await artifacts.put(run, 'page.svg', '<svg/>', { contentType: 'image/svg+xml' });
    },
    { ...connected, concurrency: CONCURRENCY, skipStalledCheck: true },
  );
  worker.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    let left = count;
    worker.on('failed', (_, error) => reject(error));
    worker.on('completed', () => {
      left -= 1;
      if (left === 0) resolve();
    });
  });
  await worker.close();
  await queue.close();
}

function jobOf(page: number): { name: string; data: object; opts: { jobId: string; owners: string[] } } {
  const opts = { jobId: newJobId(render.queue), owners: [`book:${page % OWNERS}`] };
  return { name: render.name, data: { page }, opts };
}
