import { freePorts, RedisServer } from './redis-server.js';
import { until } from './until.js';

export interface RedisPair {
  readonly master: RedisServer;
  readonly replica: RedisServer;
}

/** A master and a replica that has its data. The caller stops both. */
export async function startRedisPair(): Promise<RedisPair> {
  const [masterPort, replicaPort] = await freePorts(2);
  // By default a master waits 5 s for more replicas before it sends its data to the first.
  const data = { save: '""', 'repl-diskless-sync-delay': 0 };
  const master = await RedisServer.start(masterPort!, data);
  const replica = await RedisServer.start(replicaPort!, { ...data, replicaof: `127.0.0.1 ${masterPort}` });
  await until(
    () => master.ask(async (redis) => (await redis.info('replication')).includes('state=online')),
    'the replica has the data',
  );
  return { master, replica };
}
