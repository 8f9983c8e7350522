import { describe, expect, it } from 'vitest';
import { explore } from './explore.js';
import { lifecycleModel } from './lifecycle.model.js';
import { Rules, type Flaw } from './lifecycle.scripts.js';

const WHOLE_WALK_MS = 120_000;
const KEYED = true;
const KEYLESS = false;

/** Where two guards stand behind each other, the one in front is away as well. */
const MISSED: readonly (readonly [isKeyed: boolean, flaws: readonly Flaw[], invariant: string])[] = [
  [KEYED, ['no epoch'], 'I1'],
  [KEYED, ['begin split in read and write'], 'I1'],
  [KEYED, ['running set keyed by job id'], 'I4'],
  [KEYED, ['dedup id without epoch'], 'I11'],
  [KEYED, ['reserve split in epoch and index'], 'I2'],
  [KEYED, ['record expires while its index is not empty'], 'I2'],
  [KEYLESS, ['dangling entries dropped without grace', 'begin runs a job that is in no index'], 'I2'],
  [KEYED, ['missing record treated as run'], 'I1'],
  [KEYLESS, ['epoch restarts at a fixed value', 'begin runs a job that is in no index'], 'I1'],
  [KEYED, ['commit without fence check'], 'I9'],
  [KEYED, ['end drops the entry of a newer run'], 'I40'],
  [KEYED, ['skip leaves the entry of its twin as old as it was'], 'I13'],
  [KEYLESS, ['begin runs a job that is in no index'], 'I9'],
];

describe('the lifecycle, on every road that two producers, two workers, a canceller and a janitor can take', () => {
  it('keeps its promises to jobs with one deduplication key', { timeout: WHOLE_WALK_MS }, () => {
    const { states, broken } = explore(lifecycleModel(new Rules(KEYED)));
    expect(broken).toBeUndefined();
    expect(states).toBeGreaterThan(150_000);
  });

  it('keeps its promises to jobs without a key', { timeout: WHOLE_WALK_MS }, () => {
    const { states, broken } = explore(lifecycleModel(new Rules(KEYLESS)));
    expect(broken).toBeUndefined();
    expect(states).toBeGreaterThan(150_000);
  });

  it.each(MISSED)('needs each of its guards (keyed %s, %j: breaks %s)', (isKeyed, flaws, invariant) => {
    const { broken } = explore(lifecycleModel(new Rules(isKeyed, flaws)));
    expect(broken).toEqual({ invariant, trace: expect.arrayContaining([expect.any(String)]) });
  });
});
