import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findServer } from '#runtime';
import { PartitionedLoad } from '../support/partitioned-load.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { until } from '../support/until.js';

/** The embedded store is always one server. */
describe.runIf(findServer() !== undefined)('partitions in a Cluster, under load', () => {
  let cluster: RedisCluster;
  let load: PartitionedLoad;

  beforeEach(async () => {
    cluster = await RedisCluster.startWithReplicas();
    load = new PartitionedLoad(cluster);
    await load.untilMoreDone();
  });

  afterEach(async () => {
    await load.stop();
    await cluster.stop();
  });

  async function expectNothingLost(): Promise<void> {
    expect({ lost: load.lost(), late: load.late() }).toEqual({ lost: [], late: [] });
    expect(await load.bothSides()).toEqual({ jobs: [], index: [] });
  }

  it('are spread over the masters, and a moving slot loses nothing and leaves no half-done work', async () => {
    const masters = await Promise.all(load.tags.map((tag) => cluster.nodeOf(tag)));
    expect(new Set(masters).size).toBeGreaterThan(1);

    for (const [i, from] of masters.entries()) {
      const to = cluster.nodes.find((node) => node !== from)!;
      const moved = await cluster.moveSlot(load.tags[i]!, from, to);
      expect(moved).toBeGreaterThan(0);
      await load.untilMoreDone();
    }
    await load.settle();

    await expectNothingLost();
    expect(load.failed).toEqual([]);
  });

  it('lose nothing in a planned failover', async () => {
    const master = await cluster.nodeOf(load.tags[0]!);
    const replica = cluster.replicas[cluster.nodes.indexOf(master)]!;

    await replica.ask((redis) => redis.cluster('FAILOVER'));
    await until(
      () => replica.ask(async (redis) => (await redis.info('replication')).includes('role:master')),
      'the replica is promoted',
    );
    await load.untilMoreDone();
    await load.settle();

    await expectNothingLost();
  });

  it('continue after a master is killed, each with an index that equals its unfinished jobs', async () => {
    const master = await cluster.nodeOf(load.tags[0]!);
    const replica = cluster.replicas[cluster.nodes.indexOf(master)]!;

    await master.kill();
    await until(
      () => replica.ask(async (redis) => (await redis.info('replication')).includes('role:master')),
      'the replica is promoted',
    );
    await load.untilMoreDone();
    await load.settle();

    expect(await load.bothSides()).toEqual({ jobs: [], index: [] });
    // Only writes that the master had answered and its replica had not received may be missing.
    expect(load.lost().length).toBeLessThan(20);
  });
});
