import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { CORE_MUTANTS } from '../../../../test/core/core-mutants.js';
import { defineMutants } from '../../../../test/core/mutant-store.js';
import { composeOurs } from './composed-scripts.js';
import { RECIPES } from './recipes.js';

let redis: Redis;

beforeEach(() => {
  redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
});

afterEach(() => redis.disconnect());

it.each(CORE_MUTANTS)('finds the text of the mutant exactly once: $name', (mutant) => {
  expect(() => defineMutants(redis, [mutant], { recipes: RECIPES, make: composeOurs })).not.toThrow();
});
