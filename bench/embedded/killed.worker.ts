import { completed, filledQueue } from './jobs.js';
import type { Store } from './stores.js';
import { startWorker } from './workers.js';

const JOBS = 50_000;
const LOCK_MS = 4_000;

export interface KilledWorker {
  readonly jobs: number;
  readonly completed: number;
  readonly lost: number;
  readonly seconds: number;
}

/** 50,000 jobs over three worker processes, one of them killed half way: how many are completed in the end? */
export async function afterKilledWorker(store: Store): Promise<KilledWorker> {
  const name = 'bench-killed';
  const queue = await filledQueue(store, name, JOBS);
  const [first, ...others] = await Promise.all([1, 2, 3].map(() => startWorker(store, name, LOCK_MS)));
  try {
    const start = performance.now();
    for (const worker of [first!, ...others]) worker.go();
    await completed(queue, JOBS / 2);
    await first!.kill();
    await completed(queue, JOBS);
    const seconds = Math.round((performance.now() - start) / 100) / 10;

    const ids = new Set(await queue.getRanges(['completed'], 0, -1));
    return { jobs: JOBS, completed: ids.size, lost: JOBS - ids.size, seconds };
  } finally {
    await Promise.all(others.map((worker) => worker.kill()));
    await queue.obliterate({ force: true });
    await queue.close();
  }
}
