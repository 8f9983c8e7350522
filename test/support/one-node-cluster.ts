import { Redis } from 'ioredis';
import { freePorts, RedisServer } from './redis-server.js';
import { until } from './until.js';

/**
 * A Cluster of one node that has all slots. A client that knows nothing of Clusters can use it too; like on every Cluster, a
 * command or a script with keys of different slots is refused.
 */
export async function startOneNodeCluster(): Promise<{ url: string; stop(): Promise<void> }> {
  const [port, busPort] = await freePorts(2);
  const server = await RedisServer.start(port!, {
    'cluster-enabled': 'yes',
    'cluster-port': busPort!,
    save: '""',
  });
  await server.ask((redis) => redis.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16_383));
  await until(
    () => server.ask(async (redis) => (await redis.cluster('INFO')).includes('cluster_state:ok')),
    'the Cluster accepts commands',
  );
  return { url: `redis://${server.address}`, stop: () => server.stop() };
}

/** Tests clean up with one command for all their keys, which may be in different slots. */
export function splitCleanUps(): void {
  for (const name of ['del', 'unlink', 'exists'] as const) {
    const one = Redis.prototype[name] as (key: string) => Promise<number>;
    Redis.prototype[name] = async function (this: Redis, ...keys: unknown[]) {
      const counts = await Promise.all(keys.flat().map((key) => one.call(this, key as string)));
      return counts.reduce((sum, count) => sum + count, 0);
    };
  }
}
