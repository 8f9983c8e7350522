import { Cluster, Redis } from 'ioredis';
import { describeAddress, type StoreAddress } from '../config/store-config.js';
import type { Log } from '../log/log.js';

export type StoreConnection = Redis | Cluster;

const MAX_RETRY_MS = 1_000;

const OPTIONS = {
  // BullMQ's workers need this; callers are protected by a time limit of our own instead.
  maxRetriesPerRequest: null,
  retryStrategy: retryInMs,
  connectTimeout: 5_000,
  // Our scripts and BullMQ's adds are safe when sent twice, so an unanswered one is simply sent again.
  autoResendUnfulfilledCommands: true,
} as const;

/** Opens the connection to the store. It keeps itself up; the log says when it is lost and when it is back. */
export function connectStore(address: StoreAddress, log: Log): StoreConnection {
  const redis = open(address);
  const name = describeAddress(address);
  let lastTrouble = '';
  redis.on('error', (error: Error) => {
    const why = error.message || ((error as NodeJS.ErrnoException).code ?? 'unknown trouble');
    // A store that is away fails many times a second in the same way; it is said once.
    if (why !== lastTrouble)
      log.warn({ event: 'store.unreachable', store: name, why }, `No store at ${name}: ${why}`);
    lastTrouble = why;
  });
  redis.on('ready', () => {
    if (lastTrouble !== '') log.info({ event: 'store.back', store: name }, `The store at ${name} is back`);
    lastTrouble = '';
  });
  return redis;
}

function open(address: StoreAddress): StoreConnection {
  switch (address.via) {
    case 'url':
      return new Redis(address.url, OPTIONS);
    case 'sentinel':
      return new Redis({ ...OPTIONS, sentinels: address.sentinels, name: address.master });
    case 'cluster':
      return new Cluster(address.nodes, { redisOptions: OPTIONS, clusterRetryStrategy: retryInMs });
  }
}

// With some chance in it, so that a fleet does not come back all at once.
function retryInMs(times: number): number {
  const ceiling = Math.min(MAX_RETRY_MS, 50 * 2 ** Math.min(times, 10));
  return Math.round(ceiling * (0.5 + Math.random() / 2));
}

/** Ends the connection: politely when the store answers, at once when it does not. */
export async function closeStore(redis: StoreConnection, withinMs = 1_000): Promise<void> {
  if (redis.status === 'ready') {
    await Promise.race([redis.quit(), new Promise((resolve) => setTimeout(resolve, withinMs))]).catch(
      alreadyGone,
    );
  }
  redis.disconnect();
}

function alreadyGone(): void {
  // The connection broke while it was being closed, which is what was wanted.
}
