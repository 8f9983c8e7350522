import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import type { TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

describe('the metrics of the fleet', () => {
  let fleet: Fleet;
  let janitor: TestProcess;
  beforeEach(async () => {
    fleet = await Fleet.start({
      janitor: true,
      workers: 0,
      // A worker must find the expired job before a sweep does.
      env: { CENSUS_EVERY: '50ms', ORPHAN_SWEEP_EVERY: '50ms', EXPIRY_SWEEP_EVERY: '1h' },
    });
    janitor = fleet.processes[1]!;
  });
  afterEach(() => fleet.stop());

  it('report how long the oldest job of a queue has waited, and 0 when no job waits', async () => {
    const oldest = 'mooring_queue_oldest_waiting_seconds{queue="probe"';
    await until(async () => (await value(janitor, oldest)) === 0, 'nothing waits');
    await fleet.probe({}, { priority: 200 });
    await until(async () => (await value(janitor, oldest))! >= 0.3, 'it has waited');
    await fleet.probe({}, { priority: 1 });
    expect(await value(janitor, oldest)).toBeGreaterThanOrEqual(0.3);

    const worker = fleet.addWorker();
    await fleet.untilReady(worker);
    await until(async () => (await value(janitor, oldest)) === 0, 'nothing waits');
    await until(async () => (await value(worker, ended('completed'))) === 2, 'both are done');
    expect(await value(worker, 'mooring_job_lifetime_seconds_sum{')).toBeGreaterThanOrEqual(0.3);
    expect(await value(worker, 'mooring_job_lifetime_seconds_count{')).toBe(2);
  });

  it('report that a queue is paused', async () => {
    const paused = 'mooring_queue_paused{queue="probe"';
    await fleet.request('POST', '/v1/admin/queues/probe/pause');
    await until(async () => (await value(janitor, paused)) === 1, 'it is paused');
    await fleet.request('POST', '/v1/admin/queues/probe/resume');
    await until(async () => (await value(janitor, paused)) === 0, 'it goes on');
  });

  it('report how full the store is and when each janitor task last ran', async () => {
    const used = 'mooring_store_used_memory_bytes{';
    await until(async () => (await value(janitor, used))! > 0, 'it is known');
    expect(await value(janitor, 'mooring_store_max_memory_bytes{')).toBeGreaterThanOrEqual(0);
    expect(await value(janitor, 'mooring_janitor_duty_interval_seconds{duty="census"')).toBe(0.05);
    const doneAt = await value(janitor, 'mooring_janitor_duty_timestamp_seconds{duty="census"');
    expect(Math.abs(Date.now() / 1_000 - doneAt!)).toBeLessThan(10);
  });

  it('count the sweeps', async () => {
    const done = 'mooring_sweeps_total{sweep="orphans",outcome="done"';
    await until(async () => (await value(janitor, done))! >= 2, 'it swept twice');
    const lastAt = await value(janitor, 'mooring_sweep_timestamp_seconds{sweep="orphans"');
    expect(Math.abs(Date.now() / 1_000 - lastAt!)).toBeLessThan(10);
    expect(await value(janitor, 'mooring_sweep_tripped{sweep="orphans"')).toBe(0);
    const { status } = await fleet.request('POST', '/v1/admin/sweeps/repair', {});
    expect(status).toBe(202);
    const repair = 'mooring_sweeps_total{sweep="repair",outcome="done"';
    await until(async () => (await value(janitor, repair)) === 1, 'what was asked for is counted');
  });

  it('distinguish a failed job from a failed attempt, and measure its lifetime', async () => {
    const worker = fleet.addWorker();
    await fleet.untilReady(worker);
    await fleet.untilState(await fleet.probe({ failTimes: 3 }), 'failed');
    await until(async () => (await value(worker, ended('failed'))) === 1, 'it is counted');
    expect(await value(worker, 'mooring_job_events_total{event="failed"')).toBe(3);
    expect(await value(worker, ended('completed'))).toBe(0);
    expect(await value(worker, 'mooring_job_lifetime_seconds_count{')).toBe(1);
  });

  it('count the jobs that a worker started too late', async () => {
    const id = await fleet.probe({}, { expiresIn: '50ms' });
    await until(
      async () => (await value(janitor, 'mooring_queue_oldest_waiting_seconds{queue="probe"'))! > 0.1,
      'it expired',
    );
    const worker = fleet.addWorker();
    await fleet.untilState(id, 'expired');
    await until(
      async () => (await value(worker, 'mooring_jobs_expired_total{by="gate"')) === 1,
      'it is counted',
    );
    expect(await value(worker, ended('expired'))).toBe(1);
  });

  function ended(outcome: string): string {
    return `mooring_jobs_ended_total{outcome="${outcome}",queue="probe",kind="probe"`;
  }

  /** The value of the first sample whose line starts with `begin`. */
  async function value(process: TestProcess, begin: string): Promise<number | undefined> {
    const text = await (await fetch(`${process.url}/metrics`)).text();
    const line = text.split('\n').find((one) => one.startsWith(begin));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  }
});
