import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startRedisPair } from '../../../test/support/redis-pair.js';
import { HAS_SERVER, type RedisServer } from '../../../test/support/redis-server.js';
import { until } from '../../../test/support/until.js';
import { SlotServer } from './servers.js';
import { readInfo } from './sessions.js';
import { StoreDurability } from './store-durability.js';

describe.runIf(HAS_SERVER)('a write that a replica holds', () => {
  let master: RedisServer;
  let replica: RedisServer;
  let redis: Redis;
  let durability: StoreDurability;
  beforeAll(async () => {
    ({ master, replica } = await startRedisPair());
  });
  beforeEach(() => {
    redis = new Redis(master.port, { maxRetriesPerRequest: null, retryStrategy: () => 10 });
    durability = open(1_000);
  });
  afterEach(async () => {
    replica.thaw();
    durability.close();
    await redis.quit();
  });
  afterAll(() => Promise.all([replica.stop(), master.stop()]));

  const open = (timeoutMs: number): StoreDurability =>
    new StoreDurability({
      servers: new SlotServer(async () => redis, 'p:barrier'),
      level: 'replica',
      timeoutMs,
    });
  const write = (): Promise<unknown> => redis.incr('n');

  it('is confirmed with its answer', async () => {
    expect(await durability.hold(() => redis.set('k', 'v'))).toEqual({ value: 'OK', isHeld: true });
  });

  it('is not confirmed when its connection broke: another server may have received it', async () => {
    const broken = durability.hold(async () => {
      const id = await redis.client('ID');
      await master.ask((other) => other.client('KILL', 'ID', id));
      return write();
    });
    expect(await broken).toMatchObject({ isHeld: false });
    expect(await durability.hold(write)).toMatchObject({ isHeld: true });
  });

  it('is not confirmed when its wait reached another server', async () => {
    const others = await startRedisPair();
    try {
      const elsewhere = new Redis(others.master.port, { lazyConnect: true });
      redis.duplicate = (options) => elsewhere.duplicate(options);
      expect(await durability.hold(write)).toMatchObject({ isHeld: false });
    } finally {
      durability.close();
      await Promise.all([others.replica.stop(), others.master.stop()]);
    }
  });

  it('fails like the write, without a wait for a replica', async () => {
    const waiting = await holdWithoutReplica();
    await expect(waiting.durability.hold(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await waiting.expectHeldAfterThaw();
  });

  it('delays no other command of the connection', async () => {
    const waiting = await holdWithoutReplica();
    expect(await write()).toBeGreaterThan(0);
    await waiting.expectHeldAfterThaw();
  });

  it('shares one wait with many others', async () => {
    const waits = async (): Promise<number> =>
      master.ask(async (one) => {
        const stats = readInfo(await one.info('commandstats'))['cmdstat_wait'] ?? '';
        return Number(/calls=(\d+)/.exec(stats)?.[1] ?? 0);
      });
    await durability.hold(write);
    const before = await waits();
    // Answered at one moment, however slow the machine is.
    let writes: Promise<unknown> | undefined;
    const writeAll = (): Promise<unknown> => (writes ??= Promise.all(Array.from({ length: 500 }, write)));
    const held = await Promise.all(Array.from({ length: 500 }, () => durability.hold(writeAll)));
    expect(held.filter(({ isHeld }) => !isHeld)).toEqual([]);
    expect((await waits()) - before).toBe(1);
  });

  /** The replica is frozen, and one write waits for it for far longer than the test takes. */
  async function holdWithoutReplica(): Promise<{
    readonly durability: StoreDurability;
    expectHeldAfterThaw(): Promise<void>;
  }> {
    durability = open(60_000);
    replica.freeze();
    let isAnswered = false;
    const held = durability.hold(write).then(({ isHeld }) => {
      isAnswered = true;
      return isHeld;
    });
    await until(
      () => master.ask(async (one) => (await one.info('clients')).includes('blocked_clients:1')),
      'its wait is under way',
    );
    return {
      durability,
      expectHeldAfterThaw: async () => {
        const before = isAnswered;
        replica.thaw();
        expect([before, await held]).toEqual([false, true]);
      },
    };
  }
});
