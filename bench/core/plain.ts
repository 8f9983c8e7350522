import { Queue, Worker, type BulkJobOptions } from 'bullmq';
import { Redis } from 'ioredis';
import {
  KEEP_AGE_S,
  KEEP_COUNT,
  LOCK_MS,
  payload,
  plainJobId,
  PREFIX,
  PRIORITY,
  QUEUE,
  work,
} from './work.js';
import { extrasOf } from './extras.js';
import type { Manner, Producer } from './producer.process.js';
import type { Consumer } from './worker.process.js';

const KEEP = { age: KEEP_AGE_S, count: KEEP_COUNT };

/** BullMQ's own `add` and `addBulk`. Its `deduplication` stands for dedup; it has nothing like slots. */
export function plainProducer(url: string): Producer {
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  const queue = new Queue(QUEUE, { connection: redis, prefix: PREFIX });
  return {
    add: (n, manner) => queue.add('bench', payload(n), optionsOf(n, manner)),
    addMany: (from, count, manner) =>
      queue.addBulk(
        Array.from({ length: count }, (_, i) => ({
          name: 'bench',
          data: payload(from + i),
          opts: optionsOf(from + i, manner),
        })),
      ),
    async close() {
      await queue.close();
      redis.disconnect();
    },
  };
}

function optionsOf(n: number, { extra }: Manner): BulkJobOptions {
  const { dedup } = extrasOf(n, extra);
  return {
    jobId: plainJobId(),
    priority: PRIORITY,
    removeOnComplete: KEEP,
    removeOnFail: KEEP,
    ...(dedup && { deduplication: { id: dedup.key } }),
  };
}

/** BullMQ's own `Worker`, with the locks that the other sides have. */
export function plainConsumer(url: string, ms: number, concurrency: number, completed: () => void): Consumer {
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  const worker = new Worker(QUEUE, () => work(ms), {
    connection: redis,
    prefix: PREFIX,
    concurrency,
    lockDuration: LOCK_MS,
    stalledInterval: LOCK_MS / 5,
    maxStalledCount: 3,
  });
  worker.on('error', (error) => console.error(error.message));
  worker.on('completed', completed);
  return {
    async close() {
      await worker.close();
      redis.disconnect();
    },
  };
}
