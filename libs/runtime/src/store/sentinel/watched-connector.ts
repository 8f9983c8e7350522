import { SentinelConnector, type RedisOptions, type SentinelConnectionOptions } from 'ioredis';
import type { MasterWatch } from './master-watch.js';

type Connect = SentinelConnector['connect'];

/** How a client, and each copy that BullMQ makes of it, gets to the master: by the Sentinels, and under the watch. */
export function watchedConnector(watch: MasterWatch): NonNullable<RedisOptions['Connector']> {
  return class extends SentinelConnector {
    constructor(options: unknown) {
      super(options as SentinelConnectionOptions);
    }

    override async connect(...args: Parameters<Connect>): ReturnType<Connect> {
      const stream = await super.connect(...args);
      watch.guard(stream);
      return stream;
    }
  };
}
