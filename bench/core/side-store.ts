import { Redis } from 'ioredis';
import { startRedis, type Store } from '../harness/redis-server.js';

/** The store of one or more sides, and what it has spent. */
export interface SideStore {
  readonly url: string;
  empty(): Promise<void>;
  cpuMs(): Promise<number>;
  memoryBytes(): Promise<number>;
  stop(): Promise<void>;
}

/** A Redis that keeps nothing on disk. */
export class RedisSideStore implements SideStore {
  private constructor(
    readonly store: Store,
    private readonly redis: Redis,
  ) {}

  static async start(): Promise<RedisSideStore> {
    const store = await startRedis();
    return new RedisSideStore(store, new Redis(store.url, { maxRetriesPerRequest: null }));
  }

  get url(): string {
    return this.store.url;
  }

  async empty(): Promise<void> {
    await this.redis.flushall('SYNC');
  }

  async cpuMs(): Promise<number> {
    const seconds = (await this.figure('cpu', 'used_cpu_user')) + (await this.figure('cpu', 'used_cpu_sys'));
    return seconds * 1_000;
  }

  memoryBytes(): Promise<number> {
    return this.figure('memory', 'used_memory');
  }

  async stop(): Promise<void> {
    this.redis.disconnect();
    await this.store.stop();
  }

  private async figure(section: string, name: string): Promise<number> {
    const found = new RegExp(`^${name}:([\\d.]+)`, 'm').exec(await this.redis.info(section));
    if (!found) throw new Error(`The store does not say ${name}.`);
    return Number(found[1]);
  }
}
