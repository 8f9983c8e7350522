import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { liveAs, steps } from '../../../../test/protocol/owner.property.js';
import type { ScriptRunner } from '../../../../test/protocol/script-runner.js';
import { sendingTwice } from '../../../../test/protocol/sent-twice.js';
import { runScript } from '../scripts.js';

describe('the scripts of an owner', () => {
  let redis: Redis;
  let run: ScriptRunner;

  beforeAll(() => {
    redis = new Redis(inject('storeUrl'));
    run = (name, keys, args) => runScript(redis, name, keys, args);
  });

  afterAll(() => redis.quit());

  it('keep every invariant, whoever calls them, dies, or calls again', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (life) => {
        expect(await liveAs(run, redis, life)).toBeUndefined();
      }),
      { numRuns: 1_500 },
    );
  });

  it('answer the same and change nothing when they are sent twice', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (life) => {
        expect(await liveAs(sendingTwice(run, redis), redis, life)).toBeUndefined();
      }),
      { numRuns: 150 },
    );
  });
});
