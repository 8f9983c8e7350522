import { Redis } from 'ioredis';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordOf } from '../support/cancel-door.js';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/until.js';

const LISTS = [
  '/v1/leases',
  '/v1/schedules',
  '/v1/owners/trip/1',
  '/v1/owners/trip/1/history',
  '/v1/admin/quarantine',
  '/v1/admin/sweeps/none',
];
const aProbe = { kind: 'probe', owners: ['trip:42'], payload: {} };

describe('the HTTP interface', () => {
  let fleet: Fleet;
  beforeAll(async () => (fleet = await Fleet.start({ workers: 0 })));
  afterAll(() => fleet.stop());

  async function breakRecord(owner: string): Promise<void> {
    const redis = new Redis(fleet.storeUrl);
    await redis.set(recordOf(fleet.prefix, owner), 'not a hash');
    await redis.quit();
  }

  it.each<[string, unknown, number, string, RegExp]>([
    ['a body that is not JSON', '{"kind":', 400, 'INVALID', /JSON/],
    ['no body', '', 400, 'INVALID', /./],
    ['no owners', { ...aProbe, owners: [] }, 400, 'INVALID', /owners/],
    ['five owners', { ...aProbe, owners: ['a:1', 'a:2', 'a:3', 'a:4', 'a:5'] }, 400, 'INVALID', /owners/],
    ['an owner without a type', { ...aProbe, owners: ['42'] }, 400, 'INVALID', /type:id/],
    ['a payload that the kind does not accept', { ...aProbe, payload: { ms: 'long' } }, 400, 'INVALID', /ms/],
    ['an unknown payload field', { ...aProbe, payload: { sleep: 1 } }, 400, 'INVALID', /sleep/],
    ['an option that callers may not set', { ...aProbe, jobId: 'meta' }, 400, 'INVALID', /jobId/],
    ['an invalid delay', { ...aProbe, delay: 'soon' }, 400, 'INVALID', /delay/],
    ['a delay of a hundred years', { ...aProbe, delay: '36500d' }, 400, 'INVALID', /365d/],
    ['a priority out of range', { ...aProbe, priority: 0 }, 400, 'INVALID', /priority/],
    ['an unknown kind', { ...aProbe, kind: 'prob' }, 404, 'UNKNOWN_KIND', /prob/],
    [
      'a kind that is not offered',
      { ...aProbe, kind: 'containers.end', payload: { leaseId: 'x' } },
      404,
      'UNKNOWN_KIND',
      /containers\.end/,
    ],
    [
      'a kind named like a property of every object',
      { ...aProbe, kind: 'constructor' },
      404,
      'UNKNOWN_KIND',
      /./,
    ],
    [
      'a poisoned prototype',
      '{"kind":"probe","owners":["a:1"],"payload":{"__proto__":{"ms":1}}}',
      400,
      'INVALID',
      /./,
    ],
    ['a body of two megabytes', { ...aProbe, payload: 'x'.repeat(2 ** 21) }, 413, 'TOO_LARGE', /./],
    [
      'deep nesting',
      `{"kind":"probe","owners":["a:1"],"payload":${'['.repeat(2e5)}${']'.repeat(2e5)}}`,
      400,
      'INVALID',
      /./,
    ],
    ['a key that changes the prototype', '{"kind":"probe","__proto__":{}}', 400, 'INVALID', /"__proto__"/],
  ])('refuses %s', async (_what, body, status, code, detail) => {
    const answer = await fleet.request('POST', '/v1/jobs', body, { 'content-type': 'application/json' });

    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(answer.body).toMatchObject({ status, code, detail: expect.stringMatching(detail) });
    expect(answer.status).toBe(status);
    expect(answer.body['requestId']).toBe(answer.headers.get('x-request-id'));
    expect(JSON.stringify(answer.body)).not.toMatch(/node_modules|\.js:|at .*\(/);
  });

  it.each(['x', '1.5', '(1', '-1', '1e5', '99999999999999999999'])(
    'refuses the cursor %s',
    async (cursor) => {
      for (const list of LISTS) {
        const { status, body } = await fleet.request('GET', `${list}?cursor=${encodeURIComponent(cursor)}`);
        expect({ list, status, ...body }).toMatchObject({ list, status: 400, code: 'INVALID' });
        // The detail names the field.
        expect(body['detail']).toMatch(/^cursor: /);
      }
    },
  );

  it.each<[string, object]>([
    ['an unknown kind', { ...aProbe, kind: 'prob' }],
    ['an owner without a type', { ...aProbe, owners: ['42'] }],
    ['an unexpected error', { ...aProbe, owners: ['trip:broken'] }],
  ])('describes %s in a batch as in a single call, and accepts the other jobs', async (_what, job) => {
    await breakRecord('trip:broken');
    const alone = await fleet.request('POST', '/v1/jobs', job, { 'x-request-id': 'alone' });
    const headers = { 'x-request-id': 'batch' };
    const batch = await fleet.request('POST', '/v1/jobs/batch', { jobs: [job, aProbe] }, headers);
    expect(batch.body['results']).toEqual([
      { ...alone.body, requestId: 'batch' },
      expect.objectContaining({ status: 201, outcome: 'created' }),
    ]);
  });

  it('logs the whole of an unexpected error, alone or in a batch, and reveals nothing of it in the answer', async () => {
    await breakRecord('trip:broken');
    const job = { ...aProbe, owners: ['trip:broken'] };
    const answers = [
      await fleet.request('POST', '/v1/jobs', job, { 'x-request-id': 'whole-1' }),
      await fleet.request('POST', '/v1/jobs/batch', { jobs: [job] }, { 'x-request-id': 'whole-2' }),
    ];
    expect(JSON.stringify(answers)).not.toContain('WRONGTYPE');
    await until(() => {
      const logged = fleet.api.facts().filter((fact) => JSON.stringify(fact).includes('WRONGTYPE'));
      const ids = logged.map(({ requestId }) => requestId);
      return ids.includes('whole-1') && ids.includes('whole-2');
    }, 'both are in the log');
  });

  it.each([
    'nonsense',
    'probe-',
    'probe-12345678901234567890',
    'meta',
    'probe-%00',
    '..%2f..%2fetc',
    'x'.repeat(300),
  ])('answers 404 for the job %s', async (id) => {
    const answer = await fleet.request('GET', `/v1/jobs/${id}`);
    expect([404, 414]).toContain(answer.status);
  });

  it.each([
    ['PUT', '/v1/jobs', 'GET, HEAD, POST'],
    ['PATCH', '/v1/jobs/probe-12345678901234567890', 'DELETE, GET, HEAD'],
    ['DELETE', '/v1/owners/trip/a%2Fb?cursor=1', 'GET, HEAD'],
    ['PUT', '/v1/jobs/batch', 'DELETE, GET, HEAD, POST'],
    ['POST', '/livez', 'GET, HEAD'],
  ])('answers %s %s with the allowed methods', async (method, path, allow) => {
    const answer = await fleet.request(method, path);
    expect([answer.status, answer.body['code'], answer.headers.get('allow')]).toEqual([
      405,
      'METHOD_NOT_ALLOWED',
      allow,
    ]);
  });

  it.each(['/v1/job', '/v1/jobs/a/b', '/', '/v1/owners/trip'])(
    'answers 404 for the path %s',
    async (path) => {
      for (const type of ['application/json', 'text/plain']) {
        const answer = await fleet.request('PUT', path, 'x', { 'content-type': type });
        expect(answer).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
      }
    },
  );

  it('accepts owners with any id', async () => {
    const owners = ['trip:a:b:c', 'site:{*}', 'lease:🙂', `x:${'é'.repeat(256)}`];
    const answer = await fleet.request('POST', '/v1/jobs', { ...aProbe, owners });
    expect(answer).toMatchObject({ status: 201, body: { owners } });
  });

  it('suggests the kind that a caller may have meant, but never one that is not offered', async () => {
    const detailOf = async (kind: string): Promise<unknown> =>
      (await fleet.request('POST', '/v1/jobs', { ...aProbe, kind })).body['detail'];
    expect(await detailOf('prob')).toBe('No kind is named "prob". Did you mean probe?');
    expect(await detailOf('containers.ens')).toBe('No kind is named "containers.ens".');
    const schedule = { ...aProbe, kind: 'porbe', every: '1h' };
    expect((await fleet.request('PUT', '/v1/schedules/x', schedule)).body['detail']).toMatch(/mean probe/);
    expect((await fleet.request('POST', '/v1/flows', { ...aProbe, kind: 'probes' })).body['detail']).toMatch(
      /mean probe/,
    );
  });

  it('serves its documentation, generated from the same schemas', async () => {
    const openapi = await fleet.request('GET', '/openapi.json');
    expect(Object.keys(openapi.body['paths'] as object)).toEqual([
      '/v1/events',
      '/v1/stream',
      '/v1/jobs/{id}/artifacts/{name}',
      '/v1/admin/audit',
      '/v1/cancellations',
      '/v1/cancellations/{cancelId}',
      '/v1/flows',
      '/v1/flows/{jobId}',
      '/v1/jobs',
      '/v1/jobs/batch',
      '/v1/jobs/{id}',
      '/v1/jobs/{id}/payload',
      '/v1/jobs/{id}/log',
      '/v1/jobs/{id}/retry',
      '/v1/jobs/{id}/promote',
      '/v1/jobs/{id}/priority',
      '/v1/kinds',
      '/v1/load',
      '/v1/me',
      '/v1/operations',
      '/v1/operations/{operationId}',
      '/v1/owners',
      '/v1/owners/{type}/{id}',
      '/v1/owners/{type}/{id}/cancel',
      '/v1/owners/{type}/{id}/reopen',
      '/v1/owners/{type}/{id}/history',
      '/v1/admin/quarantine',
      '/v1/admin/queues',
      '/v1/admin/queues/{queue}/pause',
      '/v1/admin/queues/{queue}/resume',
      '/v1/schedules',
      '/v1/schedules/{id}',
      '/v1/admin/slots/{key}',
      '/v1/admin/sweeps/{sweep}',
      '/v1/admin/sweeps',
      '/v1/workers',
      '/v1/trips',
      '/v1/trips/{id}',
      '/v1/trips/{id}/accept',
      '/v1/trips/{id}/decline',
      '/v1/trips/{id}/complete',
      '/v1/trips/{id}/cancel',
      '/v1/drivers/{id}',
      '/v1/drivers/{id}/offers',
      '/v1/diagrams',
      '/v1/diagrams/{id}',
      '/v1/sites',
      '/v1/sites/{id}',
      '/v1/sites/{id}/entities/{type}/{entityId}',
      '/v1/leases',
      '/v1/leases/{id}',
      '/v1/leases/{id}/renew',
      '/v1/leases/{id}/cleanup',
    ]);
    expect(JSON.stringify(openapi.body)).toContain('"EnqueueJob"');
    const page = await fetch(`${fleet.url}/docs`);
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/html'),
    ]);
  });

  it("returns the caller's request id if it is valid", async () => {
    const given = await fleet.request('GET', '/livez', undefined, { 'x-request-id': 'mine-1' });
    const nonsense = await fleet.request('GET', '/livez', undefined, { 'x-request-id': 'a b' });
    expect(given.headers.get('x-request-id')).toBe('mine-1');
    expect(nonsense.headers.get('x-request-id')).not.toBe('a b');
  });
});

describe('keys', () => {
  const hash = (key: string): string => createHash('sha256').update(key).digest('hex');
  let fleet: Fleet;
  beforeAll(async () => {
    const API_KEYS = `shop:enqueue:${hash('shop-key')},watch:read:${hash('watch-key')},both:enqueue+read:${hash('both-key')}`;
    fleet = await Fleet.start({ workers: 0, env: { API_KEYS, PROBE: 'on' } });
  });
  afterAll(() => fleet.stop());

  const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

  it.each<[string, Record<string, string>, number, string]>([
    ['no key', {}, 401, 'UNAUTHORIZED'],
    ['an unknown key', bearer('guess'), 401, 'UNAUTHORIZED'],
    ['the hash instead of the key', bearer(hash('shop-key')), 401, 'UNAUTHORIZED'],
    ['a key without the scope', bearer('watch-key'), 403, 'FORBIDDEN'],
  ])('refuse %s', async (_what, headers, status, code) => {
    const answer = await fleet.request('POST', '/v1/jobs', aProbe, headers);
    expect(answer).toMatchObject({ status, body: { code } });
  });

  it('admit callers with the scope', async () => {
    const created = await fleet.request('POST', '/v1/jobs', aProbe, bearer('shop-key'));
    expect(created.status).toBe(201);
    const path = `/v1/jobs/${String(created.body['id'])}`;
    expect((await fleet.request('GET', path, undefined, bearer('shop-key'))).status).toBe(403);
    expect((await fleet.request('GET', path, undefined, bearer('both-key'))).status).toBe(200);
  });

  it('protect the metrics and leave health open to probes', async () => {
    expect((await fetch(`${fleet.url}/metrics`)).status).toBe(401);
    expect((await fetch(`${fleet.url}/metrics`, { headers: bearer('watch-key') })).status).toBe(200);
    expect((await fetch(`${fleet.url}/livez`)).status).toBe(200);
  });

  it('never appear in the log', () => {
    expect(fleet.api.output).not.toMatch(/shop-key|watch-key|both-key/);
  });
});
