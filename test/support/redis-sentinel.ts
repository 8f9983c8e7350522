import { freePorts, RedisServer } from './redis-server.js';
import { until } from './until.js';

const QUORUM = 2;

/** One master, one replica, and three Sentinels that promote the replica. */
export class RedisSentinel {
  readonly name = 'harbour';

  private constructor(
    readonly master: RedisServer,
    readonly replica: RedisServer,
    private readonly sentinels: readonly RedisServer[],
  ) {}

  static async start(): Promise<RedisSentinel> {
    const [masterPort, replicaPort, ...sentinelPorts] = await freePorts(5);
    // By default a master waits 5 s for more replicas before it sends its data to the first.
    const data = { save: '""', 'repl-diskless-sync-delay': 0 };
    const master = await RedisServer.start(masterPort!, data);
    const replica = await RedisServer.start(replicaPort!, {
      ...data,
      replicaof: `127.0.0.1 ${masterPort}`,
    });
    const sentinels = await Promise.all(
      sentinelPorts.map((port) =>
        RedisServer.start(
          port,
          {
            'sentinel monitor': `harbour 127.0.0.1 ${masterPort} ${QUORUM}`,
            'sentinel down-after-milliseconds': 'harbour 1000',
            'sentinel failover-timeout': 'harbour 3000',
          },
          ['--sentinel'],
        ),
      ),
    );
    const all = new RedisSentinel(master, replica, sentinels);
    await all.untilWatched();
    return all;
  }

  /** In the form of `REDIS_SENTINELS`. */
  get addresses(): string {
    return this.sentinels.map(({ address }) => address).join(',');
  }

  /** Fails over as an operator does it: the first Sentinel leads. */
  async failOver(): Promise<void> {
    await this.sentinels[0]!.ask((redis) => redis.call('SENTINEL', 'FAILOVER', this.name));
  }

  async untilPromoted(): Promise<void> {
    await until(
      () => this.replica.ask(async (redis) => (await redis.info('replication')).includes('role:master')),
      'the replica is promoted',
    );
  }

  /** The Sentinels do not reconfigure the old master for about ten seconds. */
  async untilDemoted(): Promise<void> {
    await until(
      () =>
        this.master.ask(async (redis) => (await redis.info('replication')).includes('master_link_status:up')),
      'the old master follows the new one',
    );
  }

  async stop(): Promise<void> {
    await Promise.all([...this.sentinels, this.replica, this.master].map((server) => server.stop()));
  }

  /** The replica has the data, and each Sentinel has found it and the two others. */
  private async untilWatched(): Promise<void> {
    await until(
      () =>
        this.replica.ask(async (redis) =>
          (await redis.info('replication')).includes('master_link_status:up'),
        ),
      'the replica has the data',
    );
    for (const sentinel of this.sentinels) {
      await until(
        () => sentinel.ask(async (redis) => (await redis.info('sentinel')).includes('slaves=1,sentinels=3')),
        `the Sentinel ${sentinel.address} knows all`,
      );
    }
  }
}
