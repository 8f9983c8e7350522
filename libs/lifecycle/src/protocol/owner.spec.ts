import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { liveAs, steps } from '../../../../test/protocol/owner.property.js';
import type { ScriptRunner } from '../../../../test/protocol/script-runner.js';
import { sendingTwice } from '../../../../test/protocol/sent-twice.js';
import type { Step } from '../../../../test/protocol/world.js';
import { runScript } from '../scripts.js';

/** A twin that was replaced, and ended, has its place anew when its producer asks again; who replaced it tidies up late. */
const REPLACED_AND_ASKED_AGAIN: Step[] = (
  [
    ['produce', 2307],
    ['produce', 457],
    ['answerProducer', 7861],
    ['pickUp', 0],
    ['produce', 5119],
    ['begin', 0],
    ['leave', 0],
    ['cancelJob', 0],
    ['answerProducer', 0],
    ['answerProducer', 0],
  ] as const
).map(([what, pick]) => ({ what, pick, isLost: pick === 2307 || pick === 457 }));

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
      { numRuns: 1_500, examples: [[REPLACED_AND_ASKED_AGAIN]] },
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
