import type { Redis } from 'ioredis';
import { freePorts, RedisServer, type Settings } from './redis-server.js';
import { until } from './until.js';

const MASTERS = 3;
/** How many of the 16384 slots each master has; the last one has a few less. */
const SHARE = Math.ceil(16_384 / MASTERS);

/** Three masters, the smallest possible Cluster, optionally with a replica each. */
export class RedisCluster {
  /** In the order of their masters among the nodes. */
  readonly replicas: RedisServer[] = [];

  private constructor(readonly nodes: readonly RedisServer[]) {}

  static async startWithReplicas(): Promise<RedisCluster> {
    const cluster = await RedisCluster.start();
    await Promise.all(cluster.nodes.map((node, i) => cluster.addReplica(node, i)));
    return cluster;
  }

  static async start(): Promise<RedisCluster> {
    const ports = await freePorts(2 * MASTERS);
    const busPorts = ports.splice(MASTERS);
    const cluster = new RedisCluster(
      await Promise.all(ports.map((port, i) => RedisServer.start(port, settings(busPorts[i]!)))),
    );
    await cluster.join(busPorts);
    return cluster;
  }

  /** In the form of `REDIS_CLUSTER`. */
  get addresses(): string {
    return this.nodes.map(({ address }) => address).join(',');
  }

  /** The node of a key, and of every other key with the same hash tag. */
  async nodeOf(key: string): Promise<RedisServer> {
    const slot = await this.nodes[0]!.ask((redis) => redis.cluster('KEYSLOT', key));
    return this.nodes[Math.floor(slot / SHARE)]!;
  }

  /** Moves the slot of a key with all its keys to another master under load. Returns how many keys it had. */
  async moveSlot(key: string, from: RedisServer, to: RedisServer): Promise<number> {
    const slot = await from.ask((redis) => redis.cluster('KEYSLOT', key));
    const [fromId, toId] = await Promise.all(
      [from, to].map((node) => node.ask((redis) => redis.cluster('MYID'))),
    );
    await to.ask((redis) => redis.cluster('SETSLOT', slot, 'IMPORTING', fromId!));
    await from.ask((redis) => redis.cluster('SETSLOT', slot, 'MIGRATING', toId!));
    const moved = await from.ask((redis) => moveKeys(redis, slot, to.port));
    for (const node of [to, from, ...this.nodes.filter((each) => each !== to && each !== from)]) {
      await node.ask((redis) => redis.cluster('SETSLOT', slot, 'NODE', toId!));
    }
    return moved;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.replicas, ...this.nodes].map((node) => node.stop()));
  }

  private async addReplica(master: RedisServer, at: number): Promise<void> {
    const [port, busPort] = await freePorts(2);
    const replica = await RedisServer.start(port!, settings(busPort!));
    this.replicas[at] = replica;
    const id = await master.ask(async (redis) => {
      await redis.call('CLUSTER', 'MEET', '127.0.0.1', port!, busPort!);
      return redis.cluster('MYID');
    });
    await until(
      () => replica.ask((redis) => redis.cluster('REPLICATE', id)),
      `${replica.address} knows its master`,
    );
    await until(
      () => replica.ask(async (redis) => (await redis.info('replication')).includes('master_link_status:up')),
      `${replica.address} has the data`,
    );
    // So that each takes part in the decisions of the others.
    await until(
      () => replica.ask(async (redis) => (await redis.cluster('INFO')).includes('cluster_known_nodes:6')),
      `${replica.address} knows all`,
    );
  }

  private async join(busPorts: readonly number[]): Promise<void> {
    // A node that has met another one accepts no epoch, so all epochs are set before the first two meet.
    for (const [i, node] of this.nodes.entries())
      await node.ask((redis) => redis.cluster('SET-CONFIG-EPOCH', i + 1));
    for (const [i, node] of this.nodes.entries()) {
      const last = Math.min(16_384, (i + 1) * SHARE) - 1;
      await node.ask(async (redis) => {
        await redis.call('CLUSTER', 'ADDSLOTSRANGE', i * SHARE, last);
        // Each node meets each other node, because gossip alone would take seconds.
        for (const [j, { port }] of this.nodes.entries()) {
          if (j !== i) await redis.call('CLUSTER', 'MEET', '127.0.0.1', port, busPorts[j]!);
        }
      });
    }
    await Promise.all(this.nodes.map((node) => until(() => isWhole(node), `${node.address} sees them all`)));
  }
}

async function moveKeys(redis: Redis, slot: number, port: number): Promise<number> {
  let moved = 0;
  for (;;) {
    const keys = await redis.cluster('GETKEYSINSLOT', slot, 100);
    if (keys.length === 0) return moved;
    await redis.call('MIGRATE', '127.0.0.1', port, '', 0, 5_000, 'KEYS', ...keys);
    moved += keys.length;
  }
}

function settings(busPort: number): Settings {
  return {
    'cluster-enabled': 'yes',
    'cluster-port': busPort,
    'cluster-node-timeout': 2_000,
    'cluster-replica-validity-factor': 0,
    'repl-diskless-sync-delay': 0,
  };
}

function isWhole(node: RedisServer): Promise<boolean> {
  return node.ask(async (redis) => {
    const info = await redis.cluster('INFO');
    return info.includes('cluster_state:ok') && info.includes(`cluster_size:${MASTERS}`);
  });
}
