import { MooredQueue, MooredWorker, owner, type MooredQueueOptions } from '#core';
import type { BulkJobOptions } from 'bullmq';
import { Redis } from 'ioredis';
import { KEEP_AGE_S, KEEP_COUNT, LOCK_MS, payload, PREFIX, PRIORITY, QUEUE, work } from './work.js';
import { extrasOf } from './extras.js';
import type { Manner, Producer } from './producer.process.js';
import type { SideName } from './sides.js';
import type { Consumer } from './worker.process.js';

const KEEP = { age: KEEP_AGE_S, count: KEEP_COUNT };
/** It is checked, and never reached. */
const LIMITS = { perQueue: 10_000_000 };

/** Enqueues through the core: `core-add` by BullMQ's own methods, the others by those that answer a ticket. */
export async function mooredProducer(side: SideName, url: string): Promise<Producer> {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const limits = side === 'core-unlimited' ? {} : { limits: LIMITS };
  const options: MooredQueueOptions = { connection, prefix: PREFIX, ...limits };
  const queue = new MooredQueue(QUEUE, options);
  await queue.waitUntilReady();
  const isByAdd = side === 'core-add';
  const add = isByAdd ? queue.add.bind(queue) : queue.enqueue.bind(queue);
  return {
    add: (n, manner) => add('bench', payload(n), optionsOf(n, manner)),
    addMany: (from, count, manner) => {
      const jobs = Array.from({ length: count }, (_, i) => jobOf(from + i, manner));
      return isByAdd ? queue.addBulk(jobs) : enqueueAll(queue, jobs);
    },
    async close() {
      await queue.close();
      connection.disconnect();
    },
  };
}

type BenchJob = { name: string; data: object; opts: BulkJobOptions };

/** enqueueBulk answers for each job: a refused one must not count as added. */
async function enqueueAll(queue: MooredQueue, jobs: readonly BenchJob[]): Promise<void> {
  for (const answer of await queue.enqueueBulk(jobs)) if (answer.status === 'rejected') throw answer.reason;
}

function jobOf(n: number, manner: Manner): BenchJob {
  return { name: 'bench', data: payload(n), opts: optionsOf(n, manner) };
}

function optionsOf(n: number, { perOwner, extra }: Manner): BulkJobOptions {
  return {
    owners: [owner('photo', String(Math.floor(n / perOwner)))],
    priority: PRIORITY,
    removeOnComplete: KEEP,
    removeOnFail: KEEP,
    ...extrasOf(n, extra),
  };
}

export function mooredConsumer(
  url: string,
  ms: number,
  concurrency: number,
  completed: () => void,
): Consumer {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const worker = new MooredWorker(QUEUE, () => work(ms), {
    connection,
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
      connection.disconnect();
    },
  };
}
