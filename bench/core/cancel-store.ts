import { MooredQueue } from '#core';
import type { INestApplicationContext } from '@nestjs/common';
import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { enqueueFor, offer, PREFIX as APP_PREFIX, PRIORITY, startApp } from '../cancel/cancel.app.js';
import type { Order } from '../cancel/caller.process.js';
import { BenchProcess } from '../harness/bench-process.js';
import { Prober } from '../harness/prober.js';
import type { Waited } from '../harness/prober.process.js';
import type { Called, CancelOrder } from './canceller.process.js';
import { RedisSideStore } from './side-store.js';

const PREFIX = `{${APP_PREFIX}}`;
const AT_ONCE = 1_000;
const WARM_UP_JOBS = 100;

export type CancelSide = 'core' | 'lifecycle';

/** How long the cancel took, and how long it kept another client waiting. */
export interface OneCancel extends Called {
  readonly waited: Waited;
  /** The store's CPU a job, µs: a busy machine changes it less than the time. */
  readonly storeUs: number;
}

/** A store with a queue that both sides use, and another client that measures its waits. */
export class CancelStore {
  private made = 0;

  private constructor(
    private readonly store: RedisSideStore,
    private readonly redis: Redis,
    private readonly queue: MooredQueue,
    private readonly app: INestApplicationContext,
    private readonly prober: Prober,
  ) {}

  static async start(): Promise<CancelStore> {
    const store = await RedisSideStore.start();
    const redis = new Redis(store.url, { maxRetriesPerRequest: null });
    const app = await startApp(redis);
    const queue = new MooredQueue(offer.queue, { connection: redis, prefix: PREFIX });
    return new CancelStore(store, redis, queue, app, await Prober.start(store.store));
  }

  /** Jobs of other owners, one each, that wait beside those which are cancelled. */
  async addOthers(count: number): Promise<void> {
    await this.add(count, () => `trip:${randomUUID()}`);
  }

  /** Cancels owners that have this number of jobs each, in a process of its own; answers the median. */
  async cancel(side: CancelSide, jobs: number, times: number): Promise<OneCancel> {
    const all = [WARM_UP_JOBS, ...Array<number>(times).fill(jobs)];
    return side === 'core' ? this.cancelByCore(all) : this.cancelByLifecycle(all);
  }

  quiet(ms: number): Promise<Waited> {
    return this.prober.quiet(ms);
  }

  async stop(): Promise<void> {
    await this.prober.stop();
    await this.app.close();
    await this.queue.close();
    this.redis.disconnect();
    await this.store.stop();
  }

  private async cancelByCore(all: readonly number[]): Promise<OneCancel> {
    const owners = all.map((jobs) => ({ name: `trip:core-${(this.made += 1)}`, jobs }));
    for (const { name, jobs } of owners) await this.add(jobs, () => name);
    const order: CancelOrder = { owners };
    const total = all.reduce((sum, jobs) => sum + jobs, 0);
    return this.ask(new URL('canceller.process.js', import.meta.url), [PREFIX], order, total);
  }

  private async cancelByLifecycle(all: readonly number[]): Promise<OneCancel> {
    const tripIds = all.map(() => `lifecycle-${(this.made += 1)}`);
    const jobs = all.at(-1)!;
    for (const tripId of tripIds) await enqueueFor(this.app, tripId, jobs);
    const order: Order = { tripIds, jobs };
    const entry = new URL('../cancel/caller.process.js', import.meta.url);
    return this.ask(entry, ['ours'], order, jobs * tripIds.length);
  }

  private async ask(entry: URL, args: readonly string[], order: object, jobs: number): Promise<OneCancel> {
    const caller = await BenchProcess.start(entry, [...args, this.store.url]);
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
          name: offer.name,
          data: { tripId: 'any', driverId: String(from + i) },
          opts: { owners: [ownerOf()], priority: PRIORITY },
        })),
      );
    }
  }
}
