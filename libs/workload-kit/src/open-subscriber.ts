import type { Cluster, Redis } from 'ioredis';

const LONGEST_PAUSE_MS = 2_000;

/**
 * Opens a connection that only subscribes. After a reconnect it subscribes to the same channels again and
 * emits `ready`, so that the caller can read what it missed.
 *
 * ioredis reconnects a Cluster subscriber without an event. Every Cluster node receives every published
 * message, so this listens on one node and moves to the next when that connection is lost.
 */
export function openListener(redis: Redis | Cluster): Redis {
  if (!redis.isCluster) return (redis as Redis).duplicate();
  const cluster = redis as Cluster;
  const [first] = cluster.nodes();
  if (!first) throw new Error('No node of the Cluster is known.');
  const options = {
    lazyConnect: false,
    readOnly: false,
    enableOfflineQueue: true,
    retryStrategy: (times: number): number => {
      const nodes = cluster.nodes();
      const next = nodes[times % Math.max(1, nodes.length)]?.options;
      if (next) Object.assign(listener.options, { host: next.host, port: next.port, tls: next.tls });
      return Math.min(50 * times, LONGEST_PAUSE_MS);
    },
  };
  const listener: Redis = first.duplicate(options);
  return listener;
}
