import { Queue, Worker, type BulkJobOptions } from 'bullmq';
import { Redis } from 'ioredis';
import type { Producer } from './producer.process.js';
import { KEEP_AGE_S, KEEP_COUNT, LOCK_MS, payload, plainJobId, PRIORITY, QUEUE, work } from './work.js';
import type { Consumer } from './worker.process.js';

const PREFIX = '{bench}';
const KEEP = { age: KEEP_AGE_S, count: KEEP_COUNT };

function options(): BulkJobOptions {
  return { jobId: plainJobId(), priority: PRIORITY, removeOnComplete: KEEP, removeOnFail: KEEP };
}

/** BullMQ's own `add` and `addBulk`, with the options that Mooring gives a job. */
export function plainProducer(url: string): Producer {
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  const queue = new Queue(QUEUE, { connection: redis, prefix: PREFIX });
  return {
    add: (n) => queue.add('bench', payload(n), options()),
    addMany: (from, count) =>
      queue.addBulk(
        Array.from({ length: count }, (_, i) => ({
          name: 'bench',
          data: payload(from + i),
          opts: options(),
        })),
      ),
    async close() {
      await queue.close();
      redis.disconnect();
    },
  };
}

/** BullMQ's own `Worker`, with the locks that Mooring's have. */
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
  worker.on('error', () => {});
  worker.on('completed', completed);
  return {
    async close() {
      await worker.close();
      redis.disconnect();
    },
  };
}
