import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { artifactsIn, PREFIX, render } from './retention.app.js';

const AT_ONCE = 2_000;
const CONCURRENCY = 100;
const OWNERS = 1_000;

/** Finished jobs with an artifact each, as the fleet leaves them; by a plain worker, which has fewer steps to make. */
export async function finishJobs(redis: Redis, folder: string, count: number): Promise<void> {
  const artifacts = artifactsIn(folder, redis);
  const connected = { connection: redis, prefix: `{${PREFIX}}` };
  const queue = new Queue(render.queue, connected);
  for (let from = 0; from < count; from += AT_ONCE)
    await queue.addBulk(Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => jobOf(from + i)));

  const worker = new Worker(
    render.queue,
    async (job) => {
      const jobId = job.id!;
      await artifacts.put({ jobId, fence: '1' }, 'page.svg', '<svg/>', { contentType: 'image/svg+xml' });
      await artifacts.commit(jobId, '1');
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

function jobOf(page: number): { name: string; data: object; opts: { jobId: string } } {
  const data = { v: 1, o: [`book:${page % OWNERS}`], e: ['1'], b: { page } };
  return { name: render.name, data, opts: { jobId: `${render.queue}-${randomBytes(10).toString('hex')}` } };
}
