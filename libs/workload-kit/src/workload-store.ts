import { meansUnavailable, StoreUnavailableError } from '#nestjs';
import { storeTime } from '#scripts';
import { Module, type DynamicModule } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';

const TIMEOUT_MS = 1_500;
const LATE = 'The store did not answer in time; what was asked for may still happen.';

/** The store of the fleet, for what workloads keep in it. */
export class WorkloadStore {
  /** @param prefix the first part of every key */
  constructor(
    readonly redis: Redis | Cluster,
    readonly prefix: string,
  ) {}

  /** The store's clock in ms, which all processes share. */
  now(): Promise<number> {
    return this.call(storeTime);
  }

  /** Fails with `StoreUnavailableError` without a connection, and when the answer takes too long. */
  async call<T>(ask: (redis: Redis | Cluster) => Promise<T>): Promise<T> {
    if (this.redis.status !== 'ready') throw new StoreUnavailableError('The store cannot be reached.');
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      // An answer that has arrived is read first: the process itself may not have run for as long.
      const end = (): void => void setImmediate(() => reject(new StoreUnavailableError(LATE)));
      timer = setTimeout(end, TIMEOUT_MS);
    });
    try {
      return await Promise.race([ask(this.redis), late]);
    } catch (cause) {
      if (!meansUnavailable(cause)) throw cause;
      throw new StoreUnavailableError('The connection to the store broke.', { cause });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Provides `WorkloadStore` in the whole application. */
@Module({})
export class WorkloadStoreModule {
  static forRoot(redis: Redis | Cluster, prefix: string): DynamicModule {
    const store = { provide: WorkloadStore, useValue: new WorkloadStore(redis, prefix) };
    return { module: WorkloadStoreModule, global: true, providers: [store], exports: [store] };
  }
}
