import { startEmbedded } from '#runtime';
import { redisVersion, startRedis, type Store } from '../harness/redis-server.js';

export type { Store };

/** Both kinds of store have this one shape, so that every question is asked of both. */
export interface StoreKind {
  readonly name: string;
  /** Rejects when the port is taken. */
  start(port?: number): Promise<Store>;
}

export const embedded: StoreKind = {
  name: 'embedded',
  start: (port) => startEmbedded({ stdio: 'ignore', ...(port !== undefined && { port }) }),
};

/** The redis-server on the PATH, or undefined if there is none. */
export async function redisServer(): Promise<StoreKind | undefined> {
  const version = await redisVersion();
  return version === undefined ? undefined : { name: `redis-server ${version}`, start: startRedis };
}
