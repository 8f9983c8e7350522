import { describe, expect, it } from 'vitest';
import { dedupModel, type Flaw, type Strategy } from './dedup.model.js';
import { explore } from './explore.js';

const WHOLE_WALK_MS = 60_000;

const MIXES: readonly (readonly [Strategy, Strategy, Strategy])[] = [
  ['skip', 'skip', 'skip'],
  ['skip', 'skip', 'replace'],
  ['skip', 'skip', 'coalesce'],
  ['skip', 'replace', 'coalesce'],
  ['skip', 'coalesce', 'coalesce'],
  ['replace', 'replace', 'coalesce'],
  ['replace', 'coalesce', 'coalesce'],
];

const MISSED: readonly (readonly [flaw: Flaw, mix: readonly Strategy[], invariant: string])[] = [
  ['skip without the second add', ['skip', 'skip', 'skip'], 'I13'],
  ['begin does not clear the entry', ['skip', 'skip', 'skip'], 'I13'],
  ['replace without the stored payload', ['skip', 'skip', 'replace'], 'I13'],
  ['coalesce without the stored payload', ['coalesce', 'coalesce', 'coalesce'], 'I12'],
  ['begin does not refuse the replaced twin', ['skip', 'skip', 'replace'], 'I10'],
  ['skip leaves the entry of its twin as old as it was', ['skip', 'skip', 'skip'], 'I13'],
];

describe('deduplication, on every road that three producers, two workers and a repair sweep can take', () => {
  it.each(MIXES)(
    'loses no trigger, has one pending job and runs the latest payload: %s, %s, %s',
    { timeout: WHOLE_WALK_MS },
    (...mix) => {
      const { states, broken } = explore(dedupModel(mix));
      expect(broken).toBeUndefined();
      expect(states).toBeGreaterThan(10_000);
    },
  );

  it.each(MISSED)('needs each of its guards (%s, in %j: breaks %s)', (flaw, mix, invariant) => {
    const { broken } = explore(dedupModel(mix, flaw));
    expect(broken).toEqual({ invariant, trace: expect.arrayContaining([expect.any(String)]) });
  });
});
