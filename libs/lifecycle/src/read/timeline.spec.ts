import type { Job } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { timelineOf } from './timeline.js';

const ACCEPTED = Date.parse('2026-01-02T03:00:00.000Z');

describe('a timeline', () => {
  const told = (...lines: object[]): object[] =>
    timelineOf(
      { timestamp: ACCEPTED, attemptsMade: 0 } as Job,
      'waiting',
      '',
      lines.map((line, i) => JSON.stringify({ at: ACCEPTED + i, ...line })),
    ).map(({ at: _at, ...entry }) => entry);

  it('says of an attempt that is tried again that it failed, and that it is', () => {
    expect(told({ event: 'began', attempt: 1 }, { event: 'retrying', attempt: 1, why: 'no' })).toEqual([
      { event: 'accepted' },
      { event: 'began', attempt: 1 },
      { event: 'failed', attempt: 1, why: 'no' },
      { event: 'retrying', attempt: 1 },
    ]);
  });

  it.each([
    [{ event: 'handed-back', attempt: 1, why: 'its worker ended' }, 'its worker ended'],
    [{ event: 'put-off', why: 'the door is shut' }, 'the door is shut'],
    [{ event: 'waiting-for-children', attempt: 1, why: 'some' }, 'its children have not all ended'],
  ])('says of a run that cost no attempt only that it is tried again: %j', (line, why) => {
    expect(told(line).slice(1)).toEqual([{ ...line, event: 'retrying', why }]);
  });

  it('says nothing of what a handler wrote into its log, whatever it looks like', () => {
    expect(told({ event: 'my-own' }, { level: 'info' })).toEqual([{ event: 'accepted' }]);
  });
});
