import { describe, expect, it } from 'vitest';
import { logFact } from './log-fact.js';
import { createLog } from './log.js';

function lineOf(fact: Parameters<typeof logFact>[1]): Record<string, unknown> {
  let text = '';
  const write = (line: string): string => (text += line);
  logFact(createLog('test', { LOG_LEVEL: 'trace', LOG_FORMAT: 'json' }, { write }), fact);
  return JSON.parse(text) as Record<string, unknown>;
}

function levelOf(fact: { event: string; final?: boolean }): unknown {
  const line = lineOf(fact);
  expect(line).toMatchObject(fact);
  return line['level'];
}

describe('a fact', () => {
  it.each([
    'job.stalled',
    'queue.error',
    'resolver.failed',
    'resolver.missing',
    'resolver.unproven',
    'event.dead',
    'events.trouble',
    'events.lost',
    'sweep.trouble',
    'artifact.missing',
  ])('that an operator must see is a warning: %s', (event) => {
    expect(levelOf({ event })).toBe(40);
  });

  it('of a failed job is a warning when it was the last attempt, and news before', () => {
    expect(levelOf({ event: 'job.failed', final: true })).toBe(40);
    expect(levelOf({ event: 'job.failed', final: false })).toBe(30);
  });

  it.each(['owner.cancelled', 'job.handed-back', 'worker.started', 'worker.draining', 'worker.drained'])(
    'that happens now and then is news: %s',
    (event) => {
      expect(levelOf({ event })).toBe(30);
    },
  );

  it.each([
    ['done', 30],
    ['failed', 40],
  ])('of a workload’s own has its own name and fields; one that is %s has level %i', (status, level) => {
    const facts = { action: 'stop', attempt: 1 };
    const line = lineOf({ event: 'workload', what: 'lease.cleanup', owner: 'lease:1', status, facts });
    expect(line).toMatchObject({ event: 'lease.cleanup', owner: 'lease:1', status, level, ...facts });
  });

  it.each(['job.accepted', 'job.began', 'job.completed', 'anything.else'])(
    'that every job causes is said at debug only: %s',
    (event) => {
      expect(levelOf({ event })).toBe(20);
    },
  );
});
