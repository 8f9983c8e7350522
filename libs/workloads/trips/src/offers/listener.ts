import type { Cluster, Redis } from 'ioredis';

const LONGEST_PAUSE_MS = 2_000;

/**
 * A connection that only listens: it can do nothing else. It comes back by itself, listens to the same again, and says `ready`
 * each time, so that what was missed is looked for.
 *
 * A Cluster's own listener comes back without a word. Any node hears what any other is told, so one is listened to; when it is
 * lost, the next.
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
