import { MooredQueue, MooredWorker, type MooredQueueOptions } from '#core';
import type { BulkJobOptions, Job } from 'bullmq';
import { Redis } from 'ioredis';

const PREFIX = '{bench}';
const QUEUE = 'work';
const LOCK_MS = 60_000;
const OWNERS = 100;
const SLOTS = 100;
/** It is checked, and never reached. */
const FREE = { max: 1_000_000, per: '1s' };

/** What jobs ask for; each but the first is measured beside another one. */
export const WAYS = ['owners', 'fair', 'slot', 'slot with a rate'] as const;
export type Way = (typeof WAYS)[number];
export const BESIDE: Partial<Record<Way, Way>> = { fair: 'owners', 'slot with a rate': 'slot' };

const slotOf = (n: number) => ({ key: `gpu-${n % SLOTS}`, limit: 1_000 });

function optionsOf(n: number, way: Way): BulkJobOptions {
  const owners = [`user:${n % OWNERS}`];
  switch (way) {
    case 'owners':
      return { owners };
    case 'fair':
      return { owners, fair: true };
    case 'slot':
      return { owners, slot: slotOf(n) };
    case 'slot with a rate':
      return { owners, slot: { ...slotOf(n), rate: FREE } };
  }
}

/** A queue and its workers, in this process. */
export class Place {
  readonly redis: Redis;
  readonly queue: MooredQueue;

  constructor(url: string, options: Partial<MooredQueueOptions> = {}) {
    this.redis = new Redis(url, { maxRetriesPerRequest: null });
    this.queue = new MooredQueue(QUEUE, { ...this.at, ...options });
  }

  private get at() {
    return { connection: this.redis, prefix: PREFIX };
  }

  async addAll(count: number, way: Way): Promise<void> {
    const add = (n: number) => this.queue.add('job', { n }, { ...optionsOf(n, way), removeOnComplete: true });
    for (let from = 0; from < count; from += 100)
      await Promise.all(Array.from({ length: 100 }, (_, i) => add(from + i)));
  }

  /** Runs jobs until this many have completed. */
  async work(count: number, concurrency: number, run: (job: Job) => Promise<void>): Promise<void> {
    const options = { ...this.at, concurrency, lockDuration: LOCK_MS, autorun: false };
    const worker = new MooredWorker(QUEUE, run, options);
    let left = count;
    await new Promise<void>((resolve, reject) => {
      worker.on('completed', () => (left -= 1) === 0 && resolve());
      worker.on('error', reject);
      worker.run().catch(reject);
    });
    await worker.close();
  }

  /** What the store has spent, ms. */
  async storeMs(): Promise<number> {
    const info = await this.redis.info('cpu');
    const seconds = (name: string): number => Number(new RegExp(`${name}:(\\S+)`).exec(info)![1]);
    return (seconds('used_cpu_user') + seconds('used_cpu_sys')) * 1_000;
  }

  async close(): Promise<void> {
    await this.queue.close();
    this.redis.disconnect();
  }
}
