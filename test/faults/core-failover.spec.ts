import { Cluster } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MooredQueue, Owners, type DurabilityOptions } from '#core';
import { findServer } from '#runtime';
import { RedisCluster } from '../support/redis-cluster.js';
import type { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

const MINE = { owners: ['trip:42'], delay: 600_000 };
const JOBS = Array.from({ length: 20 }, (_, i) => i);

/** The embedded store is always one server. */
describe.runIf(findServer() !== undefined)('a master of a Cluster that is killed', () => {
  const prefix = `{test-core-${process.pid}}`;
  let cluster: RedisCluster;
  let master: RedisServer;
  let replica: RedisServer;
  let connection: Cluster;
  let queue: MooredQueue;
  let owners: Owners;

  beforeEach(async () => {
    cluster = await RedisCluster.startWithReplicas();
    master = await cluster.nodeOf(prefix);
    replica = cluster.replicas[cluster.nodes.indexOf(master)]!;
    connection = new Cluster(cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port })));
    connection.on('error', () => undefined);
    const durability: DurabilityOptions = { level: 'replica', timeoutMs: 5_000 };
    queue = new MooredQueue('audio', { connection, prefix, durability });
    queue.on('error', () => undefined);
    owners = new Owners({ connection, prefix, durability });
  });

  afterEach(async () => {
    await queue.close();
    await owners.close();
    connection.disconnect();
    await cluster.stop();
  });

  it('loses no confirmed job and no confirmed cancel', async () => {
    await owners.cancel('trip:closed', { cancelId: 'kept' });
    await Promise.all(JOBS.map((i) => queue.add('x', {}, { ...MINE, jobId: `kept-${i}` })));
    replica.freeze();
    // What is sent to the master from now on is lost with it.
    await master.ask((redis) => redis.call('CLIENT', 'KILL', 'TYPE', 'replica'));
    const late = JOBS.map((i) => queue.add('x', {}, { ...MINE, jobId: `late-${i}` }));
    const answers = Promise.allSettled([...late, owners.cancel('trip:42', { cancelId: 'late' })]);
    await until(
      () => master.ask(async (redis) => (await redis.hget(`${prefix}~receipt~late`, 'done')) === '1'),
      'the master has all of it',
    );

    await master.kill();
    replica.thaw();
    await until(
      () => replica.ask(async (redis) => (await redis.info('replication')).includes('role:master')),
      'the replica is promoted',
    );

    const isConfirmed = (await answers).map(({ status }) => status === 'fulfilled');
    expect(isConfirmed).toEqual([...JOBS.map(() => false), false]);
    // The cancel was lost with the server, so the jobs that were confirmed before it exist again.
    const found = await Promise.all(
      ['kept', 'late'].map(async (word) => {
        const jobs = await Promise.all(JOBS.map((i) => queue.getJob(`${word}-${i}`)));
        return { jobs: jobs.filter(Boolean).length, receipt: Boolean(await owners.receipt(word)) };
      }),
    );
    expect(found).toEqual([
      { jobs: JOBS.length, receipt: true },
      { jobs: 0, receipt: false },
    ]);
  });
});
