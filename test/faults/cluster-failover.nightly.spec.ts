import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findServer } from '#runtime';
import { FailoverLoad } from '../support/failover-load.js';
import { Fleet } from '../support/fleet.js';
import { RedisCluster } from '../support/redis-cluster.js';
import type { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

/** The embedded store is always one server. */
describe.runIf(findServer() !== undefined)('a failover in a Cluster, under load', () => {
  let cluster: RedisCluster;
  let fleet: Fleet;
  let load: FailoverLoad;
  let master: RedisServer;
  let replica: RedisServer;
  beforeEach(async () => {
    cluster = await RedisCluster.startWithReplicas();
    const storeEnv = { REDIS_CLUSTER: cluster.addresses };
    fleet = await Fleet.start({ janitor: true, storeEnv, env: { DURABILITY: 'replica' } });
    // The master of the queues, which every call uses.
    master = await cluster.nodeOf(`{${fleet.prefix}}`);
    replica = cluster.replicas[cluster.nodes.indexOf(master)]!;
    load = new FailoverLoad(fleet);
    await until(() => load.jobs.length > 100 && load.cancels.length > 30, 'it is under load');
  });
  afterEach(async () => {
    await fleet.stop();
    await cluster.stop();
  });

  it('that is planned loses nothing and reports no loss', async () => {
    expect(load.jobs.filter(({ durable }) => durable !== true)).toEqual([]);
    await replica.ask((redis) => redis.cluster('FAILOVER'));
    await untilPromoted();
    await load.untilMoreAccepted();
    await load.stop();

    expect(await load.lost()).toEqual({ jobs: [], receipts: [], revived: [] });
    expectRefusedWell();
    const facts = fleet.processes.flatMap((process) => process.facts());
    expect(facts.filter(({ event }) => event === 'store.went-back')).toEqual([]);
  });

  it('after a master is killed loses nothing that a replica was reported to hold', async () => {
    await master.kill();
    await untilPromoted();
    await load.untilMoreAccepted();
    await load.stop();
    await fleet.untilState(await fleet.probe(), 'completed');

    const { jobs, receipts, revived } = await load.lost();
    expect([...jobs, ...receipts, ...revived].filter(({ durable }) => durable !== false)).toEqual([]);
    expectRefusedWell();
  });

  async function untilPromoted(): Promise<void> {
    await until(
      () => replica.ask(async (redis) => (await redis.info('replication')).includes('role:master')),
      'the replica is promoted',
    );
  }

  /** Every refusal was the store's fault and may be retried. */
  function expectRefusedWell(): void {
    expect(load.failed.filter(({ status, mayTryAgain }) => status !== 503 || !mayTryAgain)).toEqual([]);
  }
});
