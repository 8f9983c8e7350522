import { describe, expect, it } from 'vitest';
import { coreModel, type CoreFlaw } from './core.model.js';
import { explore } from './explore.js';

const WHOLE_WALK_MS = 60_000;
const ENDS = 'everything ends, and every trigger is followed by a run';

const MISSED: readonly (readonly [flaw: CoreFlaw, invariant: string])[] = [
  ['the index is written after the queue', 'index'],
  ['fetch ignores the epoch', 'late start'],
  ['finish ignores the epoch', 'late result'],
  ['finish ignores the lock', 'slot'],
  ['a slot is freed after the finish', 'slot'],
  ['a freed slot wakes no job', 'line'],
  ['a clean-up removes jobs of the present epoch', 'lost'],
  ['a clean-up removes runs', 'slot'],
  ['a retried job keeps its epoch', 'lost'],
  ['a begun job stays pending', 'pending'],
  ['a cancelled job stays pending', ENDS],
  ['a cancel leaves the epoch', 'late start'],
  ['an id does not identify a job', 'slot'],
];

describe('the core, in every interleaving of a producer, two workers and a canceller', () => {
  it('keeps its promises', { timeout: WHOLE_WALK_MS }, () => {
    const { states, broken } = explore(coreModel());
    expect(broken).toBeUndefined();
    expect(states).toBeGreaterThan(5_000);
  });

  it.each(MISSED)(
    'needs each of its guards (%s: breaks "%s")',
    { timeout: WHOLE_WALK_MS },
    (flaw, invariant) => {
      const { broken } = explore(coreModel(flaw));
      expect(broken).toEqual({ invariant, trace: expect.arrayContaining([expect.any(String)]) });
    },
  );
});
