import { MooredQueue } from '#core';
import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { BenchProcess } from '../harness/bench-process.js';
import { Prober } from '../harness/prober.js';
import type { Waited } from '../harness/prober.process.js';
import type { Called, CancelOrder } from './canceller.process.js';
import { RedisSideStore } from './side-store.js';
import { PREFIX, PRIORITY, QUEUE } from './work.js';

const AT_ONCE = 1_000;
const WARM_UP_JOBS = 100;

/** How long the cancel took, and how long it kept another client waiting. */
export interface OneCancel extends Called {
  readonly waited: Waited;
  /** The store's CPU a job, µs: a busy machine changes it less than the time. */
  readonly storeUs: number;
}

/** A store with a queue, and another client that measures its waits. */
export class CancelStore {
  private made = 0;

  private constructor(
    private readonly store: RedisSideStore,
    private readonly redis: Redis,
    private readonly queue: MooredQueue,
    private readonly prober: Prober,
  ) {}

  static async start(): Promise<CancelStore> {
    const store = await RedisSideStore.start();
    const redis = new Redis(store.url, { maxRetriesPerRequest: null });
    const queue = new MooredQueue(QUEUE, { connection: redis, prefix: PREFIX });
    return new CancelStore(store, redis, queue, await Prober.start(store.store));
  }

  /** Jobs of other owners, one each, that wait beside those which are cancelled. */
  async addOthers(count: number): Promise<void> {
    await this.add(count, () => `trip:${randomUUID()}`);
  }

  /** Cancels owners that have this number of jobs each, in a process of its own; answers the median. */
  async cancel(jobs: number, times: number): Promise<OneCancel> {
    const all = [WARM_UP_JOBS, ...Array<number>(times).fill(jobs)];
    const owners = all.map((count) => ({ name: `trip:${(this.made += 1)}`, jobs: count }));
    for (const { name, jobs: count } of owners) await this.add(count, () => name);
    const total = all.reduce((sum, count) => sum + count, 0);
    return this.ask({ owners }, total);
  }

  quiet(ms: number): Promise<Waited> {
    return this.prober.quiet(ms);
  }

  async stop(): Promise<void> {
    await this.prober.stop();
    await this.queue.close();
    this.redis.disconnect();
    await this.store.stop();
  }

  private async ask(order: CancelOrder, jobs: number): Promise<OneCancel> {
    const entry = new URL('canceller.process.js', import.meta.url);
    const caller = await BenchProcess.start(entry, [PREFIX, this.store.url]);
    try {
      const before = await this.store.cpuMs();
      const { answer, waited } = await this.prober.during(() => caller.ask<Called>(order));
      const storeUs = (((await this.store.cpuMs()) - before) / jobs) * 1_000;
      return { ms: answer.ms, waited, storeUs };
    } finally {
      await caller.stop();
    }
  }

  private async add(count: number, ownerOf: () => string): Promise<void> {
    for (let from = 0; from < count; from += AT_ONCE) {
      await this.queue.addBulk(
        Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => ({
          name: 'offer',
          data: { tripId: 'any', driverId: String(from + i) },
          opts: { owners: [ownerOf()], priority: PRIORITY },
        })),
      );
    }
  }
}
