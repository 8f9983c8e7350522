import { createLog, Metrics } from '#runtime';
import { beforeEach, describe, expect, it } from 'vitest';
import { TaskReports } from './task-reports.js';

describe('the failures of tasks', () => {
  let lines: Record<string, unknown>[];
  let now: number;
  let reports: TaskReports;

  beforeEach(() => {
    lines = [];
    now = 1_000_000;
    const write = (line: string): number => lines.push(JSON.parse(line));
    const log = createLog('test', { LOG_LEVEL: 'info', LOG_FORMAT: 'json' }, { write });
    reports = new TaskReports({ log, metrics: new Metrics('test') }, () => now);
  });

  const failFor = (ms: number, everyMs: number, ...duties: string[]): void => {
    for (const end = now + ms; now < end; now += everyMs) {
      for (const duty of duties) reports.failed(duty, new Error('the store is away'));
    }
  };

  it('logs a task that fails twice a second once a minute, with a count', () => {
    failFor(120_500, 500, 'census');
    expect(lines.map(({ event, duty, times }) => ({ event, duty, times }))).toEqual([
      { event: 'duty.failed', duty: 'census', times: 1 },
      { event: 'duty.failed', duty: 'census', times: 121 },
      { event: 'duty.failed', duty: 'census', times: 241 },
    ]);
    expect(lines[0]).toMatchObject({
      err: { message: 'the store is away' },
      msg: 'census failed and will be retried',
    });
  });

  it('logs each failing task', () => {
    failFor(25_000, 500, 'census', 'schedules', 'trips');
    expect(lines.map(({ duty }) => duty)).toEqual(['census', 'schedules', 'trips']);
  });

  it('logs a recovery, and a new failure immediately', () => {
    failFor(2_000, 500, 'census');
    reports.recovered('census');
    reports.recovered('census');
    reports.failed('census', new Error('broken'));
    expect(lines.map(({ event, times, failingMs }) => ({ event, times, failingMs }))).toEqual([
      { event: 'duty.failed', times: 1, failingMs: undefined },
      { event: 'duty.recovered', times: 4, failingMs: 2_000 },
      { event: 'duty.failed', times: 1, failingMs: undefined },
    ]);
  });
});
