import { createLog, Metrics, type Runtime } from '#runtime';
import { SchedulerRegistry } from '@nestjs/schedule';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../test/support/until.js';
import { PeriodicTasks, NOT_DONE } from './periodic-tasks.js';

const OFTEN_MS = 5;

describe('PeriodicTasks', () => {
  let lines: Record<string, unknown>[];
  let registry: SchedulerRegistry;
  let tasks: PeriodicTasks;
  let metrics: Metrics;

  beforeEach(() => {
    lines = [];
    const write = (line: string): number => lines.push(JSON.parse(line));
    const log = createLog('test', { LOG_LEVEL: 'info', LOG_FORMAT: 'json' }, { write });
    registry = new SchedulerRegistry();
    metrics = new Metrics('test');
    const runtime = { log, metrics } as Runtime;
    tasks = new PeriodicTasks(registry, runtime);
  });

  afterEach(() => tasks.beforeApplicationShutdown());

  it('runs a task immediately', () => {
    let turns = 0;
    tasks.every(3_600_000, 'sweep', async () => void (turns += 1));
    expect(turns).toBe(1);
  });

  it('repeats a task', async () => {
    let turns = 0;
    tasks.every(OFTEN_MS, 'sweep', async () => void (turns += 1));
    await until(() => turns >= 3, 'it had three turns');
  });

  it('does not overlap a task with itself', async () => {
    let open: (() => void)[] = [];
    let turns = 0;
    let ticks = 0;
    tasks.every(OFTEN_MS, 'sweep', () => {
      turns += 1;
      return new Promise((resolve) => open.push(resolve));
    });
    tasks.every(OFTEN_MS, 'clock', async () => void (ticks += 1));
    await until(() => ticks >= 5, 'its turn came several times');
    expect(turns).toBe(1);

    for (const end of open) end();
    open = [];
    await until(() => turns === 2, 'it is done again after it ended');
    for (const end of open) end();
  });

  it('retries a failed task and logs failure and recovery', async () => {
    let turns = 0;
    tasks.every(OFTEN_MS, 'sweep', async () => {
      turns += 1;
      if (turns === 1) throw new Error('the store is away');
    });
    await until(() => turns >= 2, 'it is tried again');
    expect(lines).toMatchObject([
      {
        level: 40,
        event: 'duty.failed',
        duty: 'sweep',
        err: { message: 'the store is away' },
        msg: 'sweep failed and will be retried',
      },
      { level: 30, event: 'duty.recovered', duty: 'sweep', msg: 'sweep succeeded again after one failure' },
    ]);
  });

  it('logs a task that keeps failing once', async () => {
    let turns = 0;
    tasks.every(OFTEN_MS, 'sweep', async () => {
      turns += 1;
      throw new Error('the store is away');
    });
    await until(() => turns >= 20, 'it failed twenty times');
    expect(lines).toMatchObject([{ event: 'duty.failed', duty: 'sweep' }]);
  });

  it('shows when a task last succeeded and its interval', async () => {
    let fails = false;
    let turns = 0;
    tasks.every(OFTEN_MS, 'sweep', async () => {
      turns += 1;
      if (fails) throw new Error('the store is away');
    });
    const began = await shown('mooring_janitor_duty_timestamp_seconds');
    expect(began).toBeGreaterThan(0);
    await until(async () => (await shown('mooring_janitor_duty_timestamp_seconds')) > began, 'it is done');
    expect(await shown('mooring_janitor_duty_interval_seconds')).toBe(OFTEN_MS / 1_000);

    fails = true;
    const seen = turns;
    await until(() => turns > seen + 1, 'it fails');
    const last = await shown('mooring_janitor_duty_timestamp_seconds');
    await until(() => turns > seen + 3, 'it fails again');
    expect(await shown('mooring_janitor_duty_timestamp_seconds')).toBe(last);
  });

  it('does not count a task held by another process as done', async () => {
    let turns = 0;
    tasks.every(OFTEN_MS, 'sweep', () => {
      turns += 1;
      return Promise.resolve(NOT_DONE);
    });
    const began = await shown('mooring_janitor_duty_timestamp_seconds');
    await until(() => turns > 3, 'it had its turns');
    expect(await shown('mooring_janitor_duty_timestamp_seconds')).toBe(began);
  });

  async function shown(metric: string): Promise<number> {
    return (await metrics.registry.getSingleMetric(metric)!.get()).values[0]!.value;
  }

  it('runs other tasks when one fails', async () => {
    let turns = 0;
    tasks.every(OFTEN_MS, 'broken', () => Promise.reject(new Error('broken')));
    tasks.every(OFTEN_MS, 'sweep', async () => void (turns += 1));
    await until(() => turns >= 3, 'the other is done');
  });

  it('waits for a running task at shutdown and does not start it again', async () => {
    let end = (): void => undefined;
    let turns = 0;
    tasks.every(OFTEN_MS, 'sweep', () => {
      turns += 1;
      return new Promise((resolve) => (end = resolve));
    });
    let hasEnded = false;
    const ending = tasks.beforeApplicationShutdown().then(() => (hasEnded = true));
    let ticks = 0;
    const clock = setInterval(() => (ticks += 1), OFTEN_MS);
    await until(() => ticks >= 3, 'a few intervals passed');
    expect({ hasEnded, turns }).toEqual({ hasEnded: false, turns: 1 });

    end();
    await ending;
    ticks = 0;
    await until(() => ticks >= 3, 'a few more passed');
    clearInterval(clock);
    expect({ turns, left: registry.getIntervals() }).toEqual({ turns: 1, left: [] });
  });

  it('completes the shutdown when a running task fails', async () => {
    let fail = (): void => undefined;
    tasks.every(
      OFTEN_MS,
      'sweep',
      () => new Promise((_, reject) => (fail = () => reject(new Error('late')))),
    );
    const ending = tasks.beforeApplicationShutdown();
    fail();
    await ending;
    expect(lines).toMatchObject([{ event: 'duty.failed', err: { message: 'late' } }]);
  });
});
