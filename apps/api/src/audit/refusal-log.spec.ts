import { createLog } from '#runtime';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RefusalLog } from './refusal-log.js';

describe('RefusalLog', () => {
  let lines: Record<string, unknown>[];
  let refusals: RefusalLog;

  beforeEach(() => {
    vi.useFakeTimers();
    lines = [];
    const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
    refusals = new RefusalLog(createLog('test', { LOG_LEVEL: 'info', LOG_FORMAT: 'json' }, { write }), 1_000);
  });
  afterEach(() => vi.useRealTimers());

  const refuse = (address: string, times: number): void => {
    for (let i = 0; i < times; i += 1)
      refusals.note({ status: 401, method: 'GET', url: '/v1/jobs', address });
  };
  const counts = (): unknown[] =>
    lines.filter(({ event }) => event === 'requests.refused').map(({ count }) => count);

  it('logs the first refusals of an address and the number of further ones', () => {
    refuse('10.0.0.1', 1_000);
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatchObject({
      event: 'request.refused',
      status: 401,
      method: 'GET',
      url: '/v1/jobs',
      address: '10.0.0.1',
    });
    vi.advanceTimersByTime(1_000);
    expect([lines.length, counts()]).toEqual([4, [997]]);
  });

  it('logs another address while one floods the log', () => {
    refuse('10.0.0.1', 1_000);
    refuse('10.0.0.2', 1);
    expect(lines.map(({ address }) => address)).toEqual(['10.0.0.1', '10.0.0.1', '10.0.0.1', '10.0.0.2']);
  });

  it('logs a key while callers without a key flood its address', () => {
    refuse('10.0.0.1', 1_000);
    refusals.note({
      status: 403,
      method: 'POST',
      url: '/v1/admin/queues/x/pause',
      address: '10.0.0.1',
      by: 'rd',
    });
    expect(lines.map(({ by }) => by)).toEqual([undefined, undefined, undefined, 'rd']);
  });

  it('logs at most a hundred addresses per window', () => {
    for (let i = 0; i < 500; i += 1) refuse(`10.0.1.${i}`, 1);
    vi.advanceTimersByTime(1_000);
    expect([lines.length, counts()]).toEqual([101, [400]]);
  });

  it('starts over in the next window and logs no count if nothing was omitted', () => {
    refuse('10.0.0.1', 3);
    vi.advanceTimersByTime(1_000);
    refuse('10.0.0.1', 1);
    vi.advanceTimersByTime(1_000);
    expect([lines.length, counts()]).toEqual([4, []]);
  });
});
