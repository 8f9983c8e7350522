import { Queue } from 'bullmq';

import type { Store } from './stores.js';

const BATCH = 1_000;
const LOOK_EVERY_MS = 20;

/** A queue of its own for one question, filled before anyone takes from it. */
export async function filledQueue(store: Store, name: string, count: number): Promise<Queue> {
  const queue = new Queue(name, { connection: { url: store.url } });
  for (let from = 0; from < count; from += BATCH) {
    const size = Math.min(BATCH, count - from);
    await queue.addBulk(Array.from({ length: size }, (_, i) => ({ name: 'noop', data: { n: from + i } })));
  }
  return queue;
}

/** Waits until that many jobs are completed; false if the count stood still for too long. */
export async function completed(queue: Queue, count: number, patienceMs = 30_000): Promise<boolean> {
  let seen = -1;
  let movedAt = performance.now();
  for (;;) {
    const now = await queue.getCompletedCount();
    if (now >= count) return true;
    if (now !== seen) movedAt = performance.now();
    if (performance.now() - movedAt > patienceMs) return false;
    seen = now;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
