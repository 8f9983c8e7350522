import { freePorts, RedisServer } from './redis-server.js';
import { until } from './until.js';

const MASTERS = 3;
/** Of the 16384 slots, how many each master has; the last one has a few less. */
const SHARE = Math.ceil(16_384 / MASTERS);

/** Three masters, without replicas: the smallest Cluster there is. */
export class RedisCluster {
  private constructor(readonly nodes: readonly RedisServer[]) {}

  static async start(): Promise<RedisCluster> {
    const ports = await freePorts(2 * MASTERS);
    const busPorts = ports.splice(MASTERS);
    const cluster = new RedisCluster(
      await Promise.all(
        ports.map((port, i) =>
          RedisServer.start(port, {
            'cluster-enabled': 'yes',
            'cluster-port': busPorts[i]!,
            'cluster-node-timeout': 2_000,
          }),
        ),
      ),
    );
    await cluster.join(busPorts);
    return cluster;
  }

  /** As `REDIS_CLUSTER` wants it. */
  get addresses(): string {
    return this.nodes.map(({ address }) => address).join(',');
  }

  /** The node that has a key, and every other with the same hash tag. */
  async nodeOf(key: string): Promise<RedisServer> {
    const slot = await this.nodes[0]!.ask((redis) => redis.cluster('KEYSLOT', key));
    return this.nodes[Math.floor(slot / SHARE)]!;
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }

  private async join(busPorts: readonly number[]): Promise<void> {
    for (const [i, node] of this.nodes.entries()) {
      const last = Math.min(16_384, (i + 1) * SHARE) - 1;
      await node.ask(async (redis) => {
        await redis.cluster('SET-CONFIG-EPOCH', i + 1);
        await redis.call('CLUSTER', 'ADDSLOTSRANGE', i * SHARE, last);
        // Each meets each: word of a stranger would take seconds to go round.
        for (const [j, { port }] of this.nodes.entries()) {
          if (j !== i) await redis.call('CLUSTER', 'MEET', '127.0.0.1', port, busPorts[j]!);
        }
      });
    }
    await Promise.all(this.nodes.map((node) => until(() => isWhole(node), `${node.address} sees them all`)));
  }
}

function isWhole(node: RedisServer): Promise<boolean> {
  return node.ask(async (redis) => {
    const info = await redis.cluster('INFO');
    return info.includes('cluster_state:ok') && info.includes(`cluster_size:${MASTERS}`);
  });
}
