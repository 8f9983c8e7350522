import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { countAs, depthChanges } from '../../../../test/protocol/depth.property.js';
import { leftAfterRush } from '../../../../test/protocol/rushes.js';
import { runScript } from '../scripts.js';

describe('the script that counts a queue', () => {
  let redis: Redis;

  beforeAll(() => {
    redis = new Redis(inject('storeUrl'));
  });

  afterAll(() => redis.quit());

  it('lets in what there is room for, and never counts below nothing', async () => {
    await fc.assert(
      fc.asyncProperty(depthChanges, async (changes) => {
        const run = runScript.bind(undefined, redis);
        expect(await countAs(run, redis, changes)).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });

  it('lets exactly one of two hundred in where there is room for one', async () => {
    const run = runScript.bind(undefined, redis);
    expect(await leftAfterRush(run, redis)).toEqual({ letIn: 1, waiting: 10 });
  });
});
