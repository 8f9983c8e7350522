import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { until } from '../../../../../test/support/until.js';
import { RateLimits } from './rate-limits.js';

describe('the rate of a name', () => {
  let redis: Redis;
  let prefix: string;
  let rates: RateLimits;

  beforeEach(() => {
    prefix = `test-rates-${randomBytes(4).toString('hex')}`;
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    rates = new RateLimits(redis, prefix);
  });
  afterEach(async () => {
    await redis.del(`${prefix}:rate:shop`, `${prefix}:rate:other`);
    redis.disconnect();
  });

  const PER_HOUR = { count: 10, perMs: 3_600_000 };

  it('admits its number at once, from all processes together, and says when the next may come', async () => {
    const others = new RateLimits(redis, prefix);
    const taken = await Promise.all(
      Array.from({ length: 25 }, (_, i) => (i % 2 ? rates : others).take('shop', PER_HOUR)),
    );
    const refused = taken.filter((waitMs) => waitMs > 0);
    expect(refused).toHaveLength(15);
    for (const waitMs of refused) {
      expect(waitMs).toBeGreaterThan(300_000);
      expect(waitMs).toBeLessThanOrEqual(360_000);
    }
  });

  it('refills evenly, and leaves nothing when it is full', async () => {
    const fast = { count: 5, perMs: 500 };
    for (let i = 0; i < 5; i += 1) await rates.take('shop', fast);
    await until(async () => (await rates.take('shop', fast)) === 0, 'one more may come');
    await until(async () => (await redis.exists(`${prefix}:rate:shop`)) === 0, 'the key has expired');
  });

  it('is apart from that of other names', async () => {
    const one = { count: 1, perMs: 3_600_000 };
    expect(await rates.take('shop', one)).toBe(0);
    expect(await rates.take('shop', one)).toBeGreaterThan(0);
    expect(await rates.take('other', one)).toBe(0);
  });

  it('is unknown while the store does not answer', async () => {
    await redis.client('PAUSE', 900, 'ALL');
    await expect(rates.take('shop', PER_HOUR)).rejects.toThrow('did not answer within 500 ms');
    await redis.ping();
  });
});
