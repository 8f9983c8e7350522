import { Cluster, type Redis } from 'ioredis';
import type { StoreConnection } from './connect.js';

/** Every node that keeps data of its own. */
export function masters(redis: StoreConnection): Redis[] {
  return redis instanceof Cluster ? redis.nodes('master') : [redis];
}

/** What INFO answers, as fields. */
export function readInfo(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split('\r\n').flatMap((line) => {
      const colon = line.indexOf(':');
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)]] : [];
    }),
  );
}
