import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { coreLives, liveInCore } from '../../../../test/core/core-steps.js';
import { CoreWorld } from '../../../../test/core/core-world.js';

const LIVES = Number(process.env['PROPERTY_RUNS'] ?? 150);

describe('the composed scripts', () => {
  let redis: Redis;
  let world: CoreWorld;

  beforeAll(() => {
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    world = new CoreWorld(redis);
  });

  afterAll(async () => {
    await world.close();
    redis.disconnect();
  });

  it('keep every promise after each step, whatever the order of calls', { timeout: 3_600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(coreLives, async (life) => {
        expect(await liveInCore(world, life)).toBeUndefined();
      }),
      { numRuns: LIVES },
    );
  });
});
