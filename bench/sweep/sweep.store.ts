import type { INestApplicationContext } from '@nestjs/common';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { BenchProcess } from '../harness/bench-process.js';
import { Prober } from '../harness/prober.js';
import type { Waited } from '../harness/prober.process.js';
import { startRedis, type Store } from '../harness/redis-server.js';
import { enqueueFor, offer, PREFIX, startApp, timeout } from './sweep.app.js';
import type { Sweeping } from './sweeper.process.js';
import type { Service } from './trips.process.js';
import { isGone, tripIds, type Shape } from './trips.js';

export type SideName = 'ours' | 'usual';

/** One clean-up of everything: what it cost, and what the others who use the store paid meanwhile. */
export interface Sweep extends Sweeping {
  readonly calls: number;
  readonly stall: Waited;
}

/** A store full of jobs, the service that knows their trips, and somebody who looks how long others wait. */
export class SweepStore {
  private constructor(
    private readonly store: Store,
    private readonly redis: Redis,
    private readonly app: INestApplicationContext,
    private readonly service: BenchProcess,
    private readonly prober: Prober,
    private readonly shape: Shape,
  ) {}

  static async start(shape: Shape): Promise<SweepStore> {
    const store = await startRedis();
    const redis = new Redis(store.url, { maxRetriesPerRequest: null });
    const app = await startApp(redis);
    const service = await BenchProcess.start(new URL('trips.process.js', import.meta.url), []);
    await enqueueFor(app, tripIds(shape), shape.each);
    return new SweepStore(store, redis, app, service, await Prober.start(store), shape);
  }

  quiet(ms: number): Promise<Waited> {
    return this.prober.quiet(ms);
  }

  /** A process sweeps, and ends; what it removed is put back. */
  async sweep(side: SideName): Promise<Sweep> {
    const { shape } = this;
    const gone = tripIds(shape).filter(isGone);
    const { url } = await this.service.ask<Service>({});
    const entry = new URL('sweeper.process.js', import.meta.url);
    const sweeper = await BenchProcess.start(entry, [side, this.store.url, url]);
    try {
      const { answer, waited } = await this.prober.during(() => sweeper.ask<Sweeping>({}));
      const { calls } = await this.service.ask<Service>({});
      await this.expectLeft(side, answer.removed, (shape.trips - gone.length) * shape.each);
      await enqueueFor(this.app, gone, shape.each);
      return { ...answer, calls, stall: waited };
    } finally {
      await sweeper.stop();
    }
  }

  async stop(): Promise<void> {
    await this.prober.stop();
    await this.service.stop();
    await this.app.close();
    this.redis.disconnect();
    await this.store.stop();
  }

  private async expectLeft(side: SideName, removed: number, expected: number): Promise<void> {
    const before = this.shape.trips * this.shape.each;
    const left = await Promise.all([offer, timeout].map(({ queue }) => this.waiting(queue)));
    const sum = left.reduce((a, b) => a + b, 0);
    if (sum !== expected || before - removed !== expected)
      throw new Error(
        `${side} says it removed ${removed} of ${before} jobs; ${sum} are left, not ${expected}`,
      );
  }

  private async waiting(name: string): Promise<number> {
    const queue = new Queue(name, { connection: this.redis, prefix: PREFIX });
    const count = await queue.getJobCountByTypes('waiting', 'delayed', 'prioritized');
    await queue.close();
    return count;
  }
}
