import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { fullest, storeMemory } from './memory.js';

describe('the memory of the store', () => {
  it('is read from the store', async () => {
    const redis = new Redis(inject('storeUrl'));
    const { usedBytes, limitBytes } = await storeMemory(redis);
    await redis.quit();
    expect(usedBytes).toBeGreaterThan(100_000);
    expect(limitBytes).toBeGreaterThanOrEqual(0);
  });

  it('is that of the node nearest to its limit', () => {
    const near = { usedBytes: 90, limitBytes: 100 };
    expect(fullest([{ usedBytes: 800, limitBytes: 1_000 }, near, { usedBytes: 5_000, limitBytes: 0 }])).toBe(
      near,
    );
  });

  it('is that of the node with the highest use if none has a limit', () => {
    const most = { usedBytes: 5, limitBytes: 0 };
    expect(fullest([{ usedBytes: 4, limitBytes: 0 }, most])).toBe(most);
  });

  it('is undefined without a node', () => {
    expect(fullest([])).toEqual({ usedBytes: 0, limitBytes: 0 });
  });
});
