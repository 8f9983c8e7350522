import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ScriptRunner } from '../../../../test/protocol/script-runner.js';
import { sendingTwice } from '../../../../test/protocol/sent-twice.js';
import { slotLives, takeAs } from '../../../../test/protocol/slot.property.js';
import { runScript } from '../scripts.js';

describe('the script of slots', () => {
  let redis: Redis;
  let run: ScriptRunner;

  beforeAll(() => {
    redis = new Redis(inject('storeUrl'));
    run = (name, keys, args) => runScript(redis, name, keys, args);
  });

  afterAll(() => redis.quit());

  it('never has more holders than slots, and serves who came first', async () => {
    await fc.assert(
      fc.asyncProperty(slotLives, async (life) => {
        expect(await takeAs(run, redis, life)).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  it('says the same word and changes nothing when it is sent twice', async () => {
    await fc.assert(
      fc.asyncProperty(slotLives, async (life) => {
        expect(await takeAs(sendingTwice(run, redis), redis, life)).toBeUndefined();
      }),
      { numRuns: 50 },
    );
  });
});
