import type { Recipe } from '#bullmq-scripts';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { CORE_MUTANTS, NO_FIRST_PAGE, type CoreMutant } from '../../../../test/core/core-mutants.js';
import { coreLives, liveInCore } from '../../../../test/core/core-steps.js';
import { CoreWorld } from '../../../../test/core/core-world.js';
import { defineMutants, type ScriptMaker } from '../../../../test/core/mutant-store.js';
import { composeOurs } from './composed-scripts.js';
import { RECIPES } from './recipes.js';

const SCRIPTS: ScriptMaker<Recipe> = { recipes: RECIPES, make: composeOurs };

/** The same lives each time, so that chance does not decide whether a mutant is found. */
const SEED = 42;
const MOST_LIVES = 1_500;
const MUTANT_MS = 600_000;

describe('the lives of the core', () => {
  let redis: Redis;

  beforeEach(() => {
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
  });

  afterEach(() => redis.disconnect());

  it.each(CORE_MUTANTS)('detect that $name', { timeout: MUTANT_MS }, async (mutant) => {
    expect(await seen(mutant)).toEqual(expect.any(String));
  });

  /** The first fault of some life: a broken invariant, or an error. */
  async function seen(mutant: CoreMutant): Promise<string | undefined> {
    return (await seenWith([mutant])) ?? (await seenWith([NO_FIRST_PAGE, mutant]));
  }

  async function seenWith(mutants: readonly CoreMutant[]): Promise<string | undefined> {
    defineMutants(redis, mutants, SCRIPTS);
    const world = new CoreWorld(redis);
    try {
      for (const life of fc.sample(coreLives, { numRuns: MOST_LIVES, seed: SEED })) {
        const fault = await liveInCore(world, life).catch(String);
        if (fault) return fault;
      }
      return undefined;
    } finally {
      await world.close();
    }
  }
});
