import type { Recipe } from '#bullmq-scripts';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { NO_FIRST_PAGE } from '../../../../test/core/core-mutants.js';
import { coreLives, liveInCore } from '../../../../test/core/core-steps.js';
import { CoreWorld } from '../../../../test/core/core-world.js';
import { defineMutants, type ScriptMaker } from '../../../../test/core/mutant-store.js';
import { numberAskedFor } from '../../../../test/support/asked-for.js';
import { composeOurs } from './composed-scripts.js';
import { RECIPES } from './recipes.js';

const SCRIPTS: ScriptMaker<Recipe> = { recipes: RECIPES, make: composeOurs };

const LIVES = numberAskedFor('PROPERTY_RUNS', 100);

describe('the composed scripts', () => {
  let redis: Redis;
  let world: CoreWorld;

  beforeEach(() => {
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
  });

  afterEach(async () => {
    await world.close();
    redis.disconnect();
  });

  it.each([
    ['whose first page has its jobs', []],
    ['whose first page is empty', [NO_FIRST_PAGE]],
  ])('keep every promise after each step, with cancels %s', { timeout: 3_600_000 }, async (_, changes) => {
    defineMutants(redis, changes, SCRIPTS);
    world = new CoreWorld(redis);
    await fc.assert(
      fc.asyncProperty(coreLives, async (life) => {
        expect(await liveInCore(world, life)).toBeUndefined();
      }),
      { numRuns: LIVES },
    );
  });
});
