import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { countAs, depthChanges } from '../../../../test/protocol/depth.property.js';
import {
  DEPTH_MUTANTS,
  OWNER_MUTANTS,
  SLOT_MUTANTS,
  type Breaking,
} from '../../../../test/protocol/mutants.js';
import { liveAs, steps } from '../../../../test/protocol/owner.property.js';
import { storeWithMutant, type ScriptRunner } from '../../../../test/protocol/script-runner.js';
import { slotLives, takeAs } from '../../../../test/protocol/slot.property.js';
import { runScript } from '../scripts.js';

/** Reports what a property finds wrong with the scripts it is given. */
type Property<T> = (run: ScriptRunner, redis: Redis, life: T) => Promise<string | undefined>;

// The same lives each time: whether a mutant is seen is not to be a matter of luck.
const SEED = 42;
const MOST_LIVES = 6_000;

describe('the properties', () => {
  let redis: Redis;

  beforeAll(() => {
    redis = new Redis(inject('storeUrl'));
  });

  afterAll(() => redis.quit());

  /** The invariant that some life breaks with this mutant among the scripts. */
  async function seenBy<T>(property: Property<T>, lives: fc.Arbitrary<T>, mutant: Breaking): Promise<string> {
    const mutated = storeWithMutant(redis, mutant);
    const run: ScriptRunner = (name, keys, args) =>
      runScript(name === mutant.script ? mutated : redis, name, keys, args);
    for (const life of fc.sample(lives, { numRuns: MOST_LIVES, seed: SEED })) {
      const violation = await property(run, redis, life);
      if (violation) return violation.split(':')[0]!;
    }
    return 'none';
  }

  it.each(OWNER_MUTANTS)('of an owner see that $name', async (mutant) => {
    expect(mutant.breaks).toContain(await seenBy(liveAs, steps, mutant));
  });

  it.each(SLOT_MUTANTS)('of a slot see that $name', async (mutant) => {
    expect(mutant.breaks).toContain(await seenBy(takeAs, slotLives, mutant));
  });

  it.each(DEPTH_MUTANTS)('of a queue see that $name', async (mutant) => {
    expect(mutant.breaks).toContain(await seenBy(countAs, depthChanges, mutant));
  });
});
