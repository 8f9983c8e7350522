import { Cluster, Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { RedisCluster } from '../../../../test/support/redis-cluster.js';
import { until } from '../../../../test/support/until.js';
import { hashSlot } from './hash-slot.js';
import { keysOnMasters } from './master-keys.js';
import { findServer } from './private/find-server.js';

it('a single server has one key', () => {
  const redis = new Redis(inject('storeUrl'), { lazyConnect: true });
  expect([...keysOnMasters(redis, 'p', 'marker')]).toEqual([[redis, 'p:{marker}']]);
});

describe.runIf(findServer() !== undefined)('on a Redis Cluster', () => {
  let nodes: RedisCluster;
  let cluster: Cluster;
  beforeAll(async () => {
    nodes = await RedisCluster.start();
    cluster = new Cluster(nodes.nodes.map(({ port }) => ({ host: '127.0.0.1', port })));
    await until(() => cluster.status === 'ready' && cluster.nodes('master').length === 3, 'it is known');
  });
  afterAll(async () => {
    cluster.disconnect();
    await nodes.stop();
  });

  it('each master has a key of a slot that it owns', async () => {
    const keys = [...keysOnMasters(cluster, 'p', 'marker')];
    expect(keys).toHaveLength(3);
    for (const [node, key] of keys) expect(await node.set(key, '1')).toBe('OK');
  });

  it('the slot of a key equals that of the Cluster', async () => {
    for (const tag of ['marker:0', 'marker:17', '123456789', 'schlüssel', 'a']) {
      expect(hashSlot(tag)).toBe(await cluster.cluster('KEYSLOT', `p:{${tag}}`));
    }
  });
});
