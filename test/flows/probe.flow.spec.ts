import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/until.js';

describe('a probe', () => {
  let fleet: Fleet;
  beforeAll(async () => (fleet = await Fleet.start()));
  afterAll(() => fleet.stop());

  it('goes from HTTP to a worker and back', async () => {
    const answer = await fleet.request('POST', '/v1/jobs', {
      kind: 'probe',
      owners: ['trip:42', 'driver:7'],
      payload: { ms: 50 },
    });
    expect(answer).toMatchObject({
      status: 201,
      body: { outcome: 'created', kind: 'probe', queue: 'probe', owners: ['trip:42', 'driver:7'] },
    });

    const job = await fleet.untilState(String(answer.body['id']), 'completed');

    expect(job).toMatchObject({
      id: answer.body['id'],
      kind: 'probe',
      queue: 'probe',
      owners: ['trip:42', 'driver:7'],
      state: 'completed',
      progress: 100,
      result: { ranMs: expect.any(Number), attempt: 1 },
      error: null,
      attempts: 1,
      artifacts: [],
    });
    expect(job.timeline.map(({ event }) => event)).toEqual(['accepted', 'began', 'completed']);
  });

  it('reports progress while it runs', async () => {
    const id = await fleet.probe({ ms: 2_000 });
    const job = await fleet.untilState(id, 'running');
    expect(job).toMatchObject({ state: 'running', result: null, attempts: 0 });
    expect((await fleet.untilState(id, 'completed')).result).toMatchObject({ attempt: 1 });
  });

  it('is retried when it fails, and reports its attempt', async () => {
    const id = await fleet.probe({ failTimes: 2 });
    expect(await fleet.untilState(id, 'completed')).toMatchObject({
      attempts: 3,
      result: { attempt: 3 },
      error: null,
    });
  });

  it('fails with the reason when every attempt fails', async () => {
    const id = await fleet.probe({ failTimes: 3 });
    expect(await fleet.untilState(id, 'failed')).toMatchObject({
      attempts: 3,
      result: null,
      error: 'Told to fail attempt 3.',
    });
  });

  it('waits for its delay', async () => {
    const id = await fleet.probe({}, { delay: '700ms' });
    expect((await fleet.job(id)).state).toBe('delayed');
    const job = await fleet.untilState(id, 'completed');
    const [accepted, began] = job.timeline.map(({ at }) => Date.parse(at));
    expect(began! - accepted!).toBeGreaterThanOrEqual(700);
  });

  it('writes log lines with its ids', async () => {
    const id = await fleet.probe({ failTimes: 3 }, { owners: ['trip:log'] });
    await fleet.untilState(id, 'failed');
    const [worker] = fleet.workers;
    const lines = await until(() => {
      const said = worker!.facts().filter((fact) => fact['jobId'] === id);
      return said.at(-1)?.['final'] === true && said;
    }, 'its end is said');
    expect(lines.map(({ event }) => event).join(' ')).toBe(
      'job.began job.failed job.began job.failed job.began job.failed',
    );
    expect(lines.at(-1)).toMatchObject({ queue: 'probe', kind: 'probe', owner: 'trip:log', final: true });
  });

  it('is counted in the metrics of the process that ran it', async () => {
    const [worker] = fleet.workers;
    const text = await (await fetch(`${worker!.url}/metrics`)).text();
    expect(text).toMatch(
      /mooring_job_events_total\{event="completed",queue="probe",kind="probe",app="worker"\} \d+/,
    );
    expect(text).toMatch(/mooring_job_run_seconds_count\{.*queue="probe".*\} \d+/);
  });
});
