import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { until } from '../support/until.js';

describe('a fleet without a worker', () => {
  let fleet: Fleet;
  beforeEach(async () => {
    fleet = await Fleet.start({ workers: 0, janitor: true, env: { EXPIRY_SWEEP_EVERY: '500ms' } });
  });
  afterEach(async () => {
    try {
      await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
    } finally {
      await fleet.stop();
    }
  });

  it('expires a late job within a sweep and reports it everywhere', async () => {
    const id = await fleet.probe({}, { expiresIn: '2s' });
    expect((await fleet.job(id)).state).toBe('waiting');
    const job = await fleet.untilState(id, 'expired', 15_000);
    expect(job).toMatchObject({ error: 'it did not start in time', timeline: [{ event: 'expired' }] });

    const janitor = fleet.processes.find(({ child }) => /janitor/.test(child.spawnargs.join(' ')))!;
    const metrics = await until(async () => {
      const text = await (await fetch(`${janitor.url}/metrics`)).text();
      return /event="expired"/.test(text) && text;
    }, 'the janitor counts it');
    expect(metrics).toMatch(/^mooring_job_events_total\{event="expired",queue="probe",kind="probe".*\} 1$/m);

    const history = await fleet.request('GET', '/v1/owners/trip/42/history');
    expect(history.body).toMatchObject({ entries: [{ id, why: 'expired', by: 'janitor' }] });

    const redis = new Redis(fleet.storeUrl);
    const told = await until(async () => {
      const entries = await redis.xrange(`${fleet.prefix}:events:out`, '-', '+');
      return entries.map(([, fields]) => fields.join(' ')).find((text) => text.includes('job.expired'));
    }, 'the event is published');
    expect(told).toContain(id);
    await redis.quit();
  });
});
