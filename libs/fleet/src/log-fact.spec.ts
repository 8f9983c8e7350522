import { createLog } from '#runtime';
import { describe, expect, it } from 'vitest';
import { logFact } from './log-fact.js';

function lineOf(fact: { event: string; [field: string]: unknown }): Record<string, unknown> {
  let text = '';
  const write = (line: string): string => (text += line);
  logFact(createLog('test', { LOG_LEVEL: 'trace', LOG_FORMAT: 'json' }, { write }), fact);
  return JSON.parse(text) as Record<string, unknown>;
}

function levelOf(fact: { event: string; [field: string]: unknown }): unknown {
  const line = lineOf(fact);
  expect(line).toMatchObject(fact);
  return line['level'];
}

describe('a fact', () => {
  it.each([
    'job.stalled',
    'resolver.unproven',
    'event.dead',
    'events.trouble',
    'events.lost',
    'sweep.tripped',
    'trouble',
  ])('that an operator must see is a warning: %s', (event) => {
    expect(levelOf({ event })).toBe(40);
  });

  it('of a failed job is a warning for the last attempt, and info before', () => {
    expect(levelOf({ event: 'job.failed', final: true })).toBe(40);
    expect(levelOf({ event: 'job.failed', final: false })).toBe(30);
  });

  it.each(['owner.cancelled', 'queue.paused', 'job.handed-back', 'worker.started', 'worker.drained'])(
    'that happens now and then is info: %s',
    (event) => {
      expect(levelOf({ event })).toBe(30);
    },
  );

  it.each([
    [{}, 20],
    [{ removed: 1 }, 30],
    [{ healed: 1 }, 30],
  ])('of a sweep that has done %o has level %i', (counts, level) => {
    expect(levelOf({ event: 'sweep.done', removed: 0, ...counts })).toBe(level);
  });

  it.each([
    ['done', 30],
    ['failed', 40],
  ])('of a workload has its own name and fields; one that is %s has level %i', (status, level) => {
    const facts = { action: 'stop', attempt: 1 };
    const line = lineOf({ event: 'workload', what: 'lease.cleanup', owner: 'lease:1', status, facts });
    expect(line).toMatchObject({ event: 'lease.cleanup', owner: 'lease:1', status, level, ...facts });
  });

  it.each(['job.accepted', 'job.began', 'job.completed', 'job.cancelled', 'event.taken'])(
    'that every job causes is logged only at debug: %s',
    (event) => {
      expect(levelOf({ event })).toBe(20);
    },
  );
});
