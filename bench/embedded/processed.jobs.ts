import { completed, filledQueue } from './jobs.js';
import type { Store } from './stores.js';
import { startWorker } from './workers.js';

const JOBS = 20_000;

/** No-op jobs a second by one worker process at concurrency 50, from its first job to the last one completed. */
export async function processedPerSecond(store: Store, round: number): Promise<number> {
  const name = `bench-processed-${round}`;
  const queue = await filledQueue(store, name, JOBS);
  const worker = await startWorker(store, name, 30_000);
  try {
    const start = performance.now();
    worker.go();
    if (!(await completed(queue, JOBS))) throw new Error(`round ${round}: the jobs stood still`);
    return Math.round(JOBS / ((performance.now() - start) / 1_000));
  } finally {
    await worker.kill();
    await queue.obliterate({ force: true });
    await queue.close();
  }
}
