import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiKey } from '../support/api-keys.js';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/until.js';

const API_KEYS = [
  apiKey('ops', 'admin+cancel+enqueue', 'ops-secret'),
  apiKey('shop', 'enqueue', 'shop-secret'),
].join();
const LOG_LEVEL = 'info';
const aSchedule = { kind: 'probe', owners: ['trip:42'], payload: {}, every: '1h' };

describe('the log of operator actions', () => {
  let fleet: Fleet;
  beforeAll(
    async () => (fleet = await Fleet.start({ workers: 0, env: { API_KEYS, PROBE: 'on', LOG_LEVEL } })),
  );
  afterAll(() => fleet.stop());

  let asked = 0;
  /** Makes a call with a request id of its own; returns its log line. */
  async function lineOf(method: string, path: string, key: string, body?: unknown): Promise<object> {
    const requestId = `audit-${(asked += 1)}`;
    const headers = { authorization: `Bearer ${key}`, 'x-request-id': requestId };
    await fleet.request(method, path, body, headers);
    return until(
      () => fleet.api.facts().find((fact) => fact['requestId'] === requestId),
      `${path} is in the log`,
    );
  }

  it.each<[string, string, unknown, object]>([
    ['POST', '/v1/admin/queues/probe/pause', undefined, { event: 'queue.paused', queue: 'probe' }],
    ['POST', '/v1/admin/queues/probe/resume', undefined, { event: 'queue.resumed', queue: 'probe' }],
    ['POST', '/v1/owners/trip/42/reopen', undefined, { event: 'owner.reopened', owner: 'trip:42' }],
    ['PUT', '/v1/schedules/nightly', aSchedule, { event: 'schedule.created', schedule: 'nightly' }],
    ['PUT', '/v1/schedules/nightly', aSchedule, { event: 'schedule.replaced', schedule: 'nightly' }],
    ['DELETE', '/v1/schedules/nightly', undefined, { event: 'schedule.deleted', schedule: 'nightly' }],
    [
      'PUT',
      '/v1/admin/slots/press',
      { limit: 2 },
      { event: 'slot.limit-set', key: 'press', limit: 2, was: null },
    ],
    [
      'POST',
      '/v1/admin/sweeps/orphans',
      { force: true },
      { event: 'sweep.asked', sweep: 'orphans', force: true, dryRun: false },
    ],
  ])('names the caller of %s %s', async (method, path, body, line) => {
    expect(await lineOf(method, path, 'ops-secret', body)).toMatchObject({ level: 30, ...line, by: 'ops' });
  });

  it('names the caller and the address of a refused call', async () => {
    const path = '/v1/admin/queues/probe/pause';
    expect(await lineOf('POST', path, 'shop-secret')).toMatchObject({
      level: 30,
      event: 'request.refused',
      status: 403,
      method: 'POST',
      url: path,
      address: '127.0.0.1',
      by: 'shop',
    });
    const unknown = await lineOf('POST', path, 'guess-secret');
    expect(unknown).toMatchObject({ level: 30, event: 'request.refused', status: 401, url: path });
    expect(unknown).not.toHaveProperty('by');
  });

  it('is not flooded by refused callers', async () => {
    const factsOf = (event: string): readonly Record<string, unknown>[] =>
      fleet.api.facts().filter((fact) => fact['event'] === event);
    const before = factsOf('request.refused').length;
    await Promise.all(Array.from({ length: 200 }, () => fleet.request('GET', '/v1/jobs/x')));
    // At most two windows, if one ended meanwhile.
    expect(factsOf('request.refused').length - before).toBeLessThanOrEqual(6);
    await until(
      () => factsOf('requests.refused').reduce((sum, { count }) => sum + Number(count), 0) >= 194,
      'the others are counted',
    );
  });

  it('never contains a key', () => {
    expect(fleet.api.output).not.toMatch(/-secret/);
  });
});
