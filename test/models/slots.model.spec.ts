import { describe, expect, it } from 'vitest';
import { explore } from './explore.js';
import { slotsModel, type Flaw } from './slots.model.js';

const WHOLE_WALK_MS = 60_000;

const MISSED: readonly (readonly [flaw: Flaw, invariant: string])[] = [
  ['no grant: a slot is free for whoever comes', 'first come, first served'],
  ['no look after the job was put off', 'who is granted a slot is woken'],
  ['a grant has no lease', 'every job ends'],
  ['a hold is keyed by job id', 'I36'],
];

describe('a concurrency key, on every road that three jobs can take', () => {
  it.each([1, 2])(
    'lets at most %i run, wakes who is granted a slot, and leaves nobody in line for ever',
    { timeout: WHOLE_WALK_MS },
    (limit) => {
      const { states, broken } = explore(slotsModel(limit));
      expect(broken).toBeUndefined();
      expect(states).toBeGreaterThan(10_000);
    },
  );

  it.each(MISSED)('needs each of its guards (%s: breaks "%s")', (flaw, invariant) => {
    const { broken } = explore(slotsModel(1, flaw));
    expect(broken).toEqual({ invariant, trace: expect.arrayContaining([expect.any(String)]) });
  });
});
