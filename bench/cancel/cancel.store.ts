import type { INestApplicationContext } from '@nestjs/common';
import { Redis } from 'ioredis';
import { BenchProcess } from '../harness/bench-process.js';
import { Prober } from '../harness/prober.js';
import type { Waited } from '../harness/prober.process.js';
import { startRedis, type Store } from '../harness/redis-server.js';
import type { Called, Order } from './caller.process.js';
import { enqueueFor, startApp } from './cancel.app.js';
import { PlainQueue } from './plain.queue.js';

export type SideName = 'ours' | 'usual';

/** One cancel: its cost for the caller, and for other clients of the store. */
export interface Cancelled extends Called {
  readonly stall: Waited;
}

/** The store of both sides, with a client that measures how long others wait. */
export class CancelStore {
  private made = 0;

  private constructor(
    readonly store: Store,
    readonly redis: Redis,
    readonly app: INestApplicationContext,
    readonly plain: PlainQueue,
    private readonly prober: Prober,
  ) {}

  static async start(): Promise<CancelStore> {
    const store = await startRedis();
    const redis = new Redis(store.url, { maxRetriesPerRequest: null });
    const app = await startApp(redis);
    return new CancelStore(store, redis, app, new PlainQueue(redis), await Prober.start(store));
  }

  /** Creates a trip with jobs, through the library or in plain BullMQ. */
  async trip(side: SideName, jobs: number): Promise<string> {
    const tripId = `${side}-${(this.made += 1)}`;
    if (side === 'ours') await enqueueFor(this.app, tripId, jobs);
    else await this.plain.add(jobs, tripId);
    return tripId;
  }

  /** Another process cancels it, and ends. */
  async cancel(side: SideName, order: Order): Promise<Cancelled> {
    const entry = new URL('caller.process.js', import.meta.url);
    const caller = await BenchProcess.start(entry, [side, this.store.url]);
    try {
      const { answer, waited } = await this.prober.during(() => caller.ask<Called>(order));
      return { ...answer, stall: waited };
    } finally {
      await caller.stop();
    }
  }

  /** How long other clients wait while the store is idle. */
  quiet(ms: number): Promise<Waited> {
    return this.prober.quiet(ms);
  }

  async stop(): Promise<void> {
    await this.prober.stop();
    await this.app.close();
    await this.plain.close();
    this.redis.disconnect();
    await this.store.stop();
  }
}
