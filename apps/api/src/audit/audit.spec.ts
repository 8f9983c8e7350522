import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiApp, fileKey, type ApiAnswer } from '../../../../test/support/api-app.js';
import { until } from '../../../../test/support/until.js';

const KEYS = [fileKey('ops'), fileKey('shop', { scopes: ['enqueue'] }), fileKey('slow', { rate: '3/h' })];
const aProbe = { kind: 'probe', owners: ['trip:42'], payload: {}, delay: '1h' };
const { delay: _, ...aSchedule } = { ...aProbe, every: '1h' };

describe('the audit log', () => {
  let api: ApiApp;
  beforeAll(async () => {
    const events = [{ type: 'trip.gone', owner: 'trip:{subject}' }];
    api = await ApiApp.start(KEYS, { AUDIT_COUNT: '50' }, events);
  });
  afterAll(() => api.stop());

  const call = (line: string, body?: unknown, key = 'ops', requestId = ''): Promise<ApiAnswer> => {
    const [method = '', path = ''] = line.split(' ');
    return api.call(key, method, path, body, requestId === '' ? {} : { 'x-request-id': requestId });
  };
  const entries = async (query = ''): Promise<Record<string, unknown>[]> =>
    (await call(`GET /v1/admin/audit?${query}`)).body.entries as Record<string, unknown>[];

  const event = { specversion: '1.0', id: '1', source: '/x', type: 'trip.gone', subject: '8' };
  it.each<[string, unknown, object]>([
    ['POST /v1/owners/trip/7/cancel', { reason: 'called off' }, { what: 'owner.cancel', on: 'trip:7' }],
    ['POST /v1/owners/trip/7/reopen', undefined, { what: 'owner.reopen', on: 'trip:7' }],
    ['POST /v1/admin/queues/probe/pause', undefined, { what: 'queue.pause', on: 'probe' }],
    ['POST /v1/admin/queues/probe/resume', undefined, { what: 'queue.resume', on: 'probe' }],
    ['PUT /v1/schedules/nightly', aSchedule, { what: 'schedule.put', on: 'nightly', status: 201 }],
    ['DELETE /v1/schedules/nightly', undefined, { what: 'schedule.delete', status: 204 }],
    ['PUT /v1/admin/slots/press', { limit: 2 }, { what: 'slot.set-limit', details: { limit: 2 } }],
    [
      'POST /v1/admin/sweeps/orphans',
      { force: true },
      { what: 'sweep.ask', on: 'orphans', details: { force: true } },
    ],
    [
      'POST /v1/operations',
      { action: 'retry', filter: {} },
      { what: 'operation.start', on: expect.stringMatching(/^op-/) },
    ],
    ['POST /v1/events', event, { what: 'event.take', on: 'trip:8' }],
  ])('has %s, with who, what and when', async (line, body, entry) => {
    const before = Date.now();
    const { status } = await call(line, body, 'ops', `audit-${line.length}`);
    const [newest] = await entries('limit=1');
    expect(newest).toMatchObject({
      who: 'ops',
      outcome: 'done',
      status,
      requestId: `audit-${line.length}`,
      ...entry,
    });
    expect(Math.abs(Date.parse(newest!['at'] as string) - before)).toBeLessThan(60_000);
  });

  it('has a change that was refused, with its status, and no enqueue', async () => {
    const { body } = await call('POST /v1/jobs', aProbe);
    await call(`POST /v1/jobs/${body.id}/retry`, { reset: true });
    // Neither could have changed anything.
    expect((await call('DELETE /v1/jobs/probe-00000000000000000000')).status).toBe(404);
    expect((await call(`POST /v1/jobs/${body.id}/priority`, { priority: 'high-ish' })).status).toBe(400);
    const [retry, ...before] = await entries();
    expect(retry).toMatchObject({
      what: 'job.retry',
      on: body.id,
      outcome: 'refused',
      status: 409,
      details: { reset: true },
    });
    expect(before.map(({ on }) => on)).not.toContain(body.id);
  });

  it('has what a key may not do, a few times, and never a key', async () => {
    for (let i = 0; i < 20; i += 1) await call('POST /v1/admin/queues/probe/pause', undefined, 'shop');
    await until(async () => (await entries('who=shop')).length >= 3, 'the refusals are in it');
    const refused = await entries('who=shop');
    expect(refused).toHaveLength(3);
    expect(refused[0]).toMatchObject({
      what: 'key.refused',
      on: 'POST /v1/admin/queues/probe/pause',
      status: 403,
    });
    await call('POST /v1/admin/queues/probe/pause', undefined, 'stranger-key');
    expect(JSON.stringify(await entries())).not.toContain('stranger');
  });

  it('is read by who, what and since, page by page', async () => {
    const since = new Date().toISOString();
    for (const id of ['a', 'b', 'c']) await call(`POST /v1/owners/page/${id}/cancel`);
    await call('POST /v1/owners/page/a/reopen');
    const found: unknown[] = [];
    let cursor: string | null = null;
    do {
      const query = `who=ops&what=owner.cancel&since=${since}&limit=2${cursor === null ? '' : `&cursor=${cursor}`}`;
      const { body } = await call(`GET /v1/admin/audit?${query}`);
      found.push(...(body.entries as { on: string }[]).map(({ on }) => on));
      cursor = body.cursor as string | null;
    } while (cursor !== null);
    expect(found).toEqual(['page:c', 'page:b', 'page:a']);
    for (const query of ['cursor=x', 'since=soon', 'limit=0', 'whom=ops', 'cursor=0-0-0'])
      expect(await call(`GET /v1/admin/audit?${query}`)).toMatchObject({
        status: 400,
        body: { code: 'INVALID' },
      });
    expect(await call('GET /v1/admin/audit', undefined, 'shop')).toMatchObject({ status: 403 });
  });

  it('is bounded by number and by age', async () => {
    const key = `{${api.prefix}}:audit`;
    const old = Array.from(
      { length: 400 },
      (_unused, i) => ['XADD', key, `${i + 1}-0`, 'who', 'old'] as const,
    );
    await api.redis.del(key);
    for (const [command, ...args] of old) await api.redis.call(command, ...args);
    // It looks at the age from time to time.
    for (let i = 0; i < 101; i += 1) await call('POST /v1/admin/queues/probe/resume');
    expect(await api.redis.xrange(key, '-', '400-0')).toEqual([]);
    // Redis removes whole nodes of a stream, of 100 entries each.
    expect(await api.redis.xlen(key)).toBeLessThanOrEqual(200);
  });

  it('that cannot be written leaves the change and its answer as they are', async () => {
    await api.redis.del(`{${api.prefix}}:audit`);
    await api.redis.set(`{${api.prefix}}:audit`, 'something else');
    expect(await call('POST /v1/owners/trip/9/cancel')).toMatchObject({
      status: 200,
      body: { closed: true },
    });
    expect(api.log).toContainEqual(expect.objectContaining({ event: 'trouble', what: 'The audit log' }));
    await api.redis.del(`{${api.prefix}}:audit`);
  });

  it('has nothing of a request beyond the rate of its key, which is told when to come again', async () => {
    const statuses = [];
    for (let i = 0; i < 4; i += 1)
      statuses.push(await call('POST /v1/admin/queues/probe/resume', undefined, 'slow'));
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(statuses[3]).toMatchObject({ body: { code: 'RATE_LIMITED' } });
    const seconds = Number(statuses[3]!.headers['retry-after']);
    expect([seconds > 1_100, seconds <= 1_200]).toEqual([true, true]);
    expect(await entries('who=slow')).toHaveLength(3);
    expect(await call('POST /v1/admin/queues/probe/resume')).toMatchObject({ status: 200 });
  });
});
