import { Redis } from 'ioredis';
import { startRedis, type Store } from '../harness/redis-server.js';
import { BenchProcess } from '../harness/bench-process.js';
import type { Enqueued, Order } from './producer.process.js';
import type { Processed, Task } from './worker.process.js';
import { SIDES, type SideName } from './work.js';

const CONCURRENCY = 50;

/** The store both sides use in turns, with a producer of each that lives as long as the benchmark. */
export class BenchStore {
  private constructor(
    private readonly store: Store,
    private readonly redis: Redis,
    private readonly producers: ReadonlyMap<SideName, BenchProcess>,
  ) {}

  static async start(): Promise<BenchStore> {
    const store = await startRedis();
    const entry = new URL('./producer.process.js', import.meta.url);
    const producers = await Promise.all(
      SIDES.map(async (side) => [side, await BenchProcess.start(entry, [side, store.url])] as const),
    );
    return new BenchStore(store, new Redis(store.url), new Map(producers));
  }

  enqueue(side: SideName, order: Order): Promise<Enqueued> {
    return this.producers.get(side)!.ask<Enqueued>(order);
  }

  /** A worker process of that side takes jobs until it has completed what the task says. */
  async process(side: SideName, handlerMs: number, task: Task): Promise<Processed> {
    const entry = new URL('./worker.process.js', import.meta.url);
    const args = [side, this.store.url, String(handlerMs), String(CONCURRENCY)];
    const worker = await BenchProcess.start(entry, args);
    try {
      return await worker.ask<Processed>(task);
    } finally {
      await worker.stop();
    }
  }

  async empty(): Promise<void> {
    await this.redis.flushall('SYNC');
  }

  async memoryBytes(): Promise<number> {
    return this.figure('memory', 'used_memory');
  }

  async cpuMs(): Promise<number> {
    const seconds = (await this.figure('cpu', 'used_cpu_user')) + (await this.figure('cpu', 'used_cpu_sys'));
    return seconds * 1_000;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.producers.values()].map((producer) => producer.stop()));
    this.redis.disconnect();
    await this.store.stop();
  }

  private async figure(section: string, name: string): Promise<number> {
    const found = new RegExp(`^${name}:([\\d.]+)`, 'm').exec(await this.redis.info(section));
    if (!found) throw new Error(`the store does not say ${name}`);
    return Number(found[1]);
  }
}
