import { createLog } from '#runtime';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RefusalLog } from './refusal-log.js';

describe('the log of refused callers', () => {
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

  it('writes the first few of an address, and how many more there were', () => {
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

  it('writes of another address while one floods it', () => {
    refuse('10.0.0.1', 1_000);
    refuse('10.0.0.2', 1);
    expect(lines.map(({ address }) => address)).toEqual(['10.0.0.1', '10.0.0.1', '10.0.0.1', '10.0.0.2']);
  });

  it('writes of a key while strangers flood its address', () => {
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

  it('writes of a hundred addresses at most', () => {
    for (let i = 0; i < 500; i += 1) refuse(`10.0.1.${i}`, 1);
    vi.advanceTimersByTime(1_000);
    expect([lines.length, counts()]).toEqual([101, [400]]);
  });

  it('begins again in the next window, and counts nothing where nothing was left out', () => {
    refuse('10.0.0.1', 3);
    vi.advanceTimersByTime(1_000);
    refuse('10.0.0.1', 1);
    vi.advanceTimersByTime(1_000);
    expect([lines.length, counts()]).toEqual([4, []]);
  });
});
