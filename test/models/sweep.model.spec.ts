import { describe, expect, it } from 'vitest';
import { explore } from './explore.js';
import { sweepModel, type Flaw } from './sweep.model.js';

const MISSED: readonly (readonly [flaw: Flaw, again: 'new' | 'skip', invariant: string])[] = [
  ['no grace for young owners', 'new', 'I20'],
  ['an error counts as gone', 'new', 'I20'],
  ['compare-and-set on the epoch only', 'new', 'I19'],
  ['no compare-and-set', 'new', 'I19'],
  ['a skipped trigger leaves the reserve counter alone', 'skip', 'I19'],
];

describe('the orphan sweep of two janitors whose lock may expire at any time', () => {
  it.each(['new', 'skip'] as const)(
    'never cancels a wanted job, whether the recreated owner enqueues a new job or skips',
    (again) => {
      const { states, broken } = explore(sweepModel(again));
      expect(broken).toBeUndefined();
      expect(states).toBeGreaterThan(300);
    },
  );

  it.each(MISSED)('needs each of its guards (%s, second enqueue %s: breaks %s)', (flaw, again, invariant) => {
    const { broken } = explore(sweepModel(again, flaw));
    expect(broken).toEqual({ invariant, trace: expect.arrayContaining([expect.any(String)]) });
  });
});
