import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freePorts, RedisServer } from '../../../../../test/support/redis-server.js';
import { until } from '../../../../../test/support/until.js';
import { readInfo } from '../info.js';
import { findServer } from '../private/find-server.js';
import { StoreDurability } from './store-durability.js';

describe.runIf(findServer() !== undefined)('what a replica holds', () => {
  let master: RedisServer;
  let replica: RedisServer;
  let redis: Redis;
  let durability: StoreDurability;
  beforeAll(async () => {
    [master, replica] = await pair();
  });
  beforeEach(() => {
    redis = new Redis(master.port, { maxRetriesPerRequest: null, retryStrategy: () => 10 });
    durability = new StoreDurability(redis, 'p', 'replica', 1_000);
  });
  afterEach(async () => {
    durability.close();
    await redis.quit();
  });
  afterAll(() => Promise.all([replica.stop(), master.stop()]));

  const write = (): Promise<unknown> => redis.incr('n');

  it('is said of a write, with its answer', async () => {
    expect(await durability.hold(() => redis.set('k', 'v'))).toEqual({ value: 'OK', isHeld: true });
  });

  it('is said of no write that the connection broke around: another server may have got it', async () => {
    const broken = durability.hold(async () => {
      const id = await redis.client('ID');
      await master.ask((other) => other.client('KILL', 'ID', id));
      return write();
    });
    expect(await broken).toMatchObject({ isHeld: false });
    expect(await durability.hold(write)).toMatchObject({ isHeld: true });
  });

  it('is said of no write when its wait came to another server', async () => {
    const others = await pair();
    try {
      const elsewhere = new Redis(others[0].port, { lazyConnect: true });
      redis.duplicate = (options) => elsewhere.duplicate(options);
      expect(await durability.hold(write)).toMatchObject({ isHeld: false });
    } finally {
      durability.close();
      await Promise.all(others.map((server) => server.stop()));
    }
  });

  it('fails as the write does, at once', async () => {
    const began = performance.now();
    await expect(durability.hold(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(performance.now() - began).toBeLessThan(500);
  });

  it('is asked once for many, over connections of its own', async () => {
    const waits = async (): Promise<number> =>
      master.ask(async (one) => {
        const stats = readInfo(await one.info('commandstats'))['cmdstat_wait'] ?? '';
        return Number(/calls=(\d+)/.exec(stats)?.[1] ?? 0);
      });
    await durability.hold(write);
    const before = await waits();
    const held = await Promise.all(Array.from({ length: 500 }, () => durability.hold(write)));
    expect(held.filter(({ isHeld }) => !isHeld)).toEqual([]);
    expect((await waits()) - before).toBeLessThan(20);

    replica.freeze();
    const slow = durability.hold(write);
    const began = performance.now();
    await write();
    expect(performance.now() - began).toBeLessThan(500);
    replica.thaw();
    await slow;
  });
});

/** A master and its replica. */
async function pair(): Promise<[RedisServer, RedisServer]> {
  const [port, replicaPort] = await freePorts(2);
  const settings = { save: '""', 'repl-diskless-sync-delay': 0 };
  const master = await RedisServer.start(port!, settings);
  const replica = await RedisServer.start(replicaPort!, { ...settings, replicaof: `127.0.0.1 ${port}` });
  await until(() => master.ask(async (one) => (await one.info()).includes('state=online')), 'it follows');
  return [master, replica];
}
