import type { Cluster, Redis } from 'ioredis';

const LONGEST_PAUSE_MS = 2_000;
/** It subscribes whenever it connects, however long that takes. */
const PATIENT = { enableOfflineQueue: true, commandTimeout: undefined };

/**
 * Opens a connection that only subscribes. After a reconnect it subscribes to the same channels again and
 * emits `ready`, so that the caller can read what it missed.
 *
 * ioredis reconnects a Cluster subscriber without an event. Every Cluster node receives every published
 * message, so this listens on one node and moves to the next when that connection is lost.
 */
export function openSubscriber(redis: Redis | Cluster): Redis {
  const subscriber = redis.isCluster ? subscriberOf(redis as Cluster) : (redis as Redis).duplicate(PATIENT);
  // The shared connection to the same store already logs the error.
  return subscriber.on('error', () => undefined);
}

function subscriberOf(cluster: Cluster): Redis {
  const [first] = cluster.nodes();
  if (!first) throw new Error('No node of the Cluster is known.');
  const options = {
    ...PATIENT,
    lazyConnect: false,
    readOnly: false,
    retryStrategy: (times: number): number => {
      const nodes = cluster.nodes();
      const next = nodes[times % Math.max(1, nodes.length)]?.options;
      if (next) Object.assign(subscriber.options, { host: next.host, port: next.port, tls: next.tls });
      return Math.min(50 * times, LONGEST_PAUSE_MS);
    },
  };
  const subscriber: Redis = first.duplicate(options);
  return subscriber;
}
