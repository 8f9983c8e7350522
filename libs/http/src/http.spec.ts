import 'reflect-metadata';
import '#nestjs/register';
import { Owners } from '#core';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { NestFactory, Reflector } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { CoreKit } from '../../../test/support/core-kit.js';
import {
  CommittedArtifacts,
  defineKind,
  Enqueuer,
  type Fact,
  MooringModule,
  Quarantine,
  Schedules,
  UnknownKindError,
} from '#nestjs';
import { ApiProblem, MooringHttpModule, NEEDS, type CalledRequest, type Scope } from './index.js';

const probe = defineKind({
  name: 'probe',
  queue: 'probe',
  payload: z.strictObject({ ms: z.number().optional() }),
});
const HIDDEN = 'probe-00000000000000000000';
const aProbe = { kind: 'probe', owners: ['trip:42'], payload: {} };
const OWNER = '/mooring/v1/owners/trip/42';

/** The name of a caller lists its scopes. */
@Injectable()
class ScopeGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const scope = this.reflector.getAllAndOverride<Scope | null>(NEEDS, [
      context.getHandler(),
      context.getClass(),
    ]);
    const request = context.switchToHttp().getRequest<CalledRequest & { headers: Record<string, string> }>();
    request.caller = request.headers['scopes'] ?? 'all';
    if (scope === null || request.caller === 'all' || request.caller.split('+').includes(scope)) return true;
    throw new ApiProblem(403, 'FORBIDDEN', `It needs ${scope}.`);
  }
}

const artifact = { name: 'a b.bin', size: 10, contentType: 'text/html', sha256: 'abc' };
const facts: Fact[] = [];

describe('the routes of Mooring in an application', () => {
  let kit: CoreKit;
  let app: NestFastifyApplication;

  beforeAll(async () => {
    kit = new CoreKit();
    class App {}
    const health = {
      alive: () => ({ ok: true, why: [] }),
      ready: async () => ({ ok: false, why: ['draining'] }),
      metrics: { contentType: 'text/plain; version=0.0.4', text: async () => 'jobs 1\n' },
    };
    const imports = [
      MooringModule.forRoot({ ...kit.place, listeners: [(fact) => facts.push(fact)] }),
      MooringModule.forKinds([probe]),
      MooringHttpModule.register({ path: '/mooring/', guard: ScopeGuard, health }),
    ];
    app = await NestFactory.create({ module: App, imports }, new FastifyAdapter(), {
      logger: false,
      abortOnError: false,
    });
    await app.init();
    const artifacts = app.get(CommittedArtifacts);
    vi.spyOn(artifacts, 'list').mockImplementation(async (id) => (id === HIDDEN ? [] : [artifact]));
    vi.spyOn(artifacts, 'open').mockImplementation(
      async (_id, _name, { first, last } = { first: 0, last: 9 }) => ({
        artifact,
        bytes: Readable.from([Buffer.from('0123456789').subarray(first, last + 1)]),
      }),
    );
  });

  afterEach(async () => {
    for (const { owner, state } of (await kit.owners.list()).owners) {
      await kit.owners.cancel(owner, { close: false });
      if (state === 'closed') await kit.owners.reopen(owner);
    }
    await kit.redis.del(`${kit.prefix}~history~trip:42`);
  });

  afterAll(async () => {
    await app.close();
    await kit.stop();
  });

  async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const url = path.startsWith('/v1') ? `/mooring${path}` : path;
    const payload =
      body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) };
    const answer = await app.inject({
      method: method as 'GET',
      url,
      headers: { ...json, ...headers },
      ...payload,
    });
    const isJson = answer.headers['content-type']?.toString().includes('json');
    return { status: answer.statusCode, headers: answer.headers, body: isJson ? answer.json() : answer.body };
  }

  it('enqueue a job, and answer a duplicate with 200', async () => {
    const job = { ...aProbe, dedup: { strategy: 'skip', key: 'k' } };
    const created = await call('POST', '/v1/jobs', job, { 'idempotency-key': 'once' });
    const skipped = await call('POST', '/v1/jobs', job);

    expect(created).toMatchObject({
      status: 201,
      body: { outcome: 'created', kind: 'probe', owners: ['trip:42'] },
    });
    expect(created.headers['location']).toBe(`/mooring/v1/jobs/${created.body.id}`);
    expect(skipped).toMatchObject({ status: 200, body: { outcome: 'skipped', id: created.body.id } });
  });

  it.each<[string, unknown, number, string, RegExp]>([
    ['no owners', { ...aProbe, owners: [] }, 400, 'INVALID', /owners/],
    ['an owner without a type', { ...aProbe, owners: ['42'] }, 400, 'INVALID', /type:id/],
    ['a payload that the kind does not accept', { ...aProbe, payload: { ms: 'long' } }, 400, 'INVALID', /ms/],
    ['an option that callers may not set', { ...aProbe, jobId: 'meta' }, 400, 'INVALID', /jobId/],
    ['an invalid delay', { ...aProbe, delay: 'soon' }, 400, 'INVALID', /delay/],
    [
      'a slot key with a control character',
      { ...aProbe, slot: { key: 'a\nb', limit: 1 } },
      400,
      'INVALID',
      /slot/,
    ],
    ['an unknown kind', { ...aProbe, kind: 'prob' }, 404, 'UNKNOWN_KIND', /prob/],
  ])('refuse %s, alone and in a batch', async (_, body, status, code, detail) => {
    const answer = await call('POST', '/v1/jobs', body);

    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer).toMatchObject({ status, body: { status, code, detail: expect.stringMatching(detail) } });
    const batch = await call('POST', '/v1/jobs/batch', { jobs: [body, aProbe] });
    expect(batch.body.results).toMatchObject([
      { status, code },
      { status: 201, outcome: 'created' },
    ]);
  });

  it('show a job with links to its artifacts, and cancel it', async () => {
    const jobId = 'probe-11111111111111111111';
    await app.get(Enqueuer).enqueue(probe, {}, { owners: ['trip:42'], jobId });

    expect(await call('GET', `/v1/jobs/${jobId}`)).toMatchObject({
      status: 200,
      body: {
        id: jobId,
        state: 'waiting',
        artifacts: [{ href: `/mooring/v1/jobs/${jobId}/artifacts/a%20b.bin` }],
      },
    });
    expect(await call('DELETE', `/v1/jobs/${jobId}`, undefined, { scopes: 'cancel' })).toMatchObject({
      status: 200,
      body: { owner: 'trip:42', job: jobId, removed: 1, by: 'cancel', closed: false, done: true },
    });
    for (const method of ['GET', 'DELETE'])
      expect(await call(method, '/v1/jobs/nothing')).toMatchObject({
        status: 404,
        body: { code: 'NOT_FOUND' },
      });
  });

  it('list jobs, owners, cancellations, kinds and workers, and show payload, log and flow of a job', async () => {
    const { body: made } = await call('POST', '/v1/jobs', { ...aProbe, payload: { ms: 5 } });
    await call('POST', `${OWNER.replace('42', '7')}/cancel`, { cancelId: 'c-list' });

    expect(
      await call('GET', '/v1/jobs?owner=trip:42&state=waiting&limit=1', undefined, { scopes: 'read' }),
    ).toMatchObject({
      status: 200,
      body: { jobs: [{ id: made.id, kind: 'probe', owners: ['trip:42'], state: 'waiting' }], cursor: null },
    });
    expect(await call('GET', '/v1/owners?type=trip&prefix=4&state=open')).toMatchObject({
      status: 200,
      body: {
        owners: [{ owner: 'trip:42', counts: { jobs: 1 }, oldestJobMs: expect.any(Number) }],
        cursor: null,
      },
    });
    const cancellations = await call('GET', '/v1/cancellations?open=false&limit=1');
    expect(cancellations).toMatchObject({
      status: 200,
      body: { cancellations: [{ cancelId: 'c-list', done: true }] },
    });
    expect(await call('GET', '/v1/kinds')).toMatchObject({ body: { kinds: [{ name: 'probe', hides: [] }] } });
    expect(await call('GET', '/v1/workers')).toMatchObject({ status: 200, body: { workers: [] } });
    expect(await call('GET', `/v1/jobs/${made.id}/payload`)).toMatchObject({ body: { payload: { ms: 5 } } });
    expect(await call('GET', `/v1/jobs/${made.id}/log`)).toMatchObject({ body: { lines: [] } });
    expect(await call('GET', `/v1/flows/${made.id}`)).toMatchObject({
      body: { id: made.id, parent: null, children: [] },
    });
    for (const path of ['/v1/jobs/nothing/payload', '/v1/jobs/nothing/log', '/v1/flows/nothing'])
      expect(await call('GET', path)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
  });

  it.each([
    '/v1/jobs?state=gone',
    '/v1/jobs?owner=42',
    '/v1/jobs?limit=0',
    '/v1/jobs?limit=1001',
    '/v1/jobs?limit=many',
    '/v1/jobs?cursor=x',
    '/v1/jobs?status=failed',
    '/v1/jobs?state=failed&state=waiting',
    '/v1/owners?cursor=x',
    '/v1/owners?state=gone',
    '/v1/owners?limit=101',
    '/v1/cancellations?open=maybe',
    '/v1/cancellations?cursor=x',
    '/v1/kinds?x=1',
  ])('refuse %s', async (path) => {
    expect(await call('GET', path)).toMatchObject({ status: 400, body: { code: 'INVALID' } });
    const [route = ''] = path.split('?');
    expect(await call('GET', route, undefined, { scopes: 'enqueue' })).toMatchObject({ status: 403 });
  });

  it('cancel an owner, and answer the same receipt again', async () => {
    await call('POST', '/v1/jobs', aProbe);
    const body = { reason: 'called off', cancelId: 'c-1' };
    const dry = await call('POST', `${OWNER}/cancel`, { dryRun: true });
    const receipt = await call('POST', `${OWNER}/cancel`, body);

    expect(dry).toMatchObject({ status: 200, body: { removed: 1, dryRun: true, done: false } });
    expect(receipt).toMatchObject({
      status: 200,
      body: {
        cancelId: 'c-1',
        epoch: expect.stringMatching(/^\d+$/),
        reason: 'called off',
        by: 'all',
        byQueue: { probe: { removed: { waiting: 1 }, aborted: 0, running: 0 } },
        done: true,
      },
    });
    expect((await call('POST', `${OWNER}/cancel`, body)).body).toEqual(receipt.body);
    expect((await call('GET', '/v1/cancellations/c-1')).body).toEqual(receipt.body);
    expect(await call('POST', '/v1/owners/trip/43/cancel', body)).toMatchObject({ status: 422 });
    expect(await call('POST', '/v1/jobs', aProbe)).toMatchObject({
      status: 409,
      body: { code: 'OWNER_CLOSED' },
    });
    expect(await call('GET', OWNER)).toMatchObject({ body: { state: 'closed', jobs: [], cursor: null } });
    expect(await call('GET', `${OWNER}/history`)).toMatchObject({
      body: { entries: [{ why: 'cancelled' }] },
    });
    expect(await call('POST', `${OWNER}/reopen`)).toMatchObject({
      status: 200,
      body: { owner: 'trip:42', state: 'open' },
    });
    expect(facts).toContainEqual({ by: 'all', event: 'owner.reopened', owner: 'trip:42' });
  });

  it.each([
    ['an unknown field', { force: true }],
    ['an empty reason', { reason: ' ' }],
    ['a time to wait without a wait', { waitFor: '1s' }],
    ['a wait that is too long', { wait: 'drained', waitFor: '3m' }],
    ['an invalid time', { wait: 'drained', waitFor: 'soon' }],
    ['an empty cancelId', { cancelId: '' }],
  ])('refuse a cancel with %s, and cancel nothing', async (_, body) => {
    await call('POST', '/v1/jobs', aProbe);

    expect(await call('POST', `${OWNER}/cancel`, body)).toMatchObject({
      status: 400,
      body: { code: 'INVALID' },
    });

    expect(await call('GET', OWNER)).toMatchObject({ body: { state: 'open', counts: { jobs: 1 } } });
  });

  it.each<[Record<string, string>, number, string]>([
    [{}, 200, '0123456789'],
    [{ range: 'bytes=2-3' }, 206, '23'],
    [{ range: 'bytes=-1' }, 206, '9'],
    [{ range: 'bytes=9-8' }, 200, '0123456789'],
    [{ range: 'bytes=0-1', 'if-range': '"x"' }, 200, '0123456789'],
    [{ 'if-none-match': 'W/"abc"' }, 304, ''],
  ])('send an artifact for %o', async (headers, status, text) => {
    const answer = await call(
      'GET',
      `/v1/jobs/x/artifacts/${encodeURIComponent(artifact.name)}`,
      undefined,
      headers,
    );

    expect([answer.status, answer.body, answer.headers['etag']]).toEqual([status, text, '"abc"']);
    if (status === 304) return;
    expect(answer.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': String(text.length),
      'content-disposition': `attachment; filename="a_b.bin"; filename*=UTF-8''a%20b.bin`,
      'content-security-policy': "sandbox; default-src 'none'",
    });
  });

  it('send no range behind the end of an artifact, and no unknown artifact', async () => {
    const path = `/v1/jobs/x/artifacts/${encodeURIComponent(artifact.name)}`;
    const behind = await call('GET', path, undefined, { range: 'bytes=10-' });
    expect([behind.status, behind.headers['content-range']]).toEqual([416, 'bytes */10']);
    expect(await call('GET', `/v1/jobs/${HIDDEN}/artifacts/x`)).toMatchObject({ status: 404 });
  });

  it('pause a queue and set the limit of a slot, and log the caller', async () => {
    expect(await call('POST', '/v1/admin/queues/probe/pause')).toMatchObject({ body: { paused: true } });
    expect(await call('GET', '/v1/admin/queues')).toMatchObject({
      body: { queues: [{ queue: 'probe', paused: true }] },
    });
    await call('POST', '/v1/admin/queues/probe/resume', undefined, { scopes: 'admin' });
    expect(await call('PUT', '/v1/admin/slots/press%2F1', { limit: 2 })).toMatchObject({
      status: 200,
      body: { key: 'press/1', limit: 2 },
    });

    expect(facts).toContainEqual({ by: 'admin', event: 'queue.resumed', queue: 'probe' });
    expect(facts).toContainEqual({
      by: 'all',
      event: 'slot.limit-set',
      key: 'press/1',
      limit: 2,
      was: null,
    });
    expect(await call('POST', '/v1/admin/queues/nothing/pause')).toMatchObject({ status: 404 });
  });

  it('answer the load of kinds, or of all queues, as one number', async () => {
    await call('POST', '/v1/jobs', aProbe);
    const load = { load: 1, waiting: 1, running: 0 };
    expect(await call('GET', '/v1/load', undefined, { scopes: 'read' })).toMatchObject({
      status: 200,
      body: { ...load, queues: [{ queue: 'probe', ...load, paused: false }] },
    });
    expect(await call('GET', '/v1/load?kinds=probe')).toMatchObject({ body: load });
    expect(await call('GET', '/v1/load?kinds=probe,prob')).toMatchObject({
      status: 404,
      body: { code: 'UNKNOWN_KIND' },
    });
    expect(await call('GET', '/v1/load?kind=probe')).toMatchObject({
      status: 400,
      body: { code: 'INVALID' },
    });
  });

  it('accept a flow down to its deepest child, schedules, and requests for sweeps', async () => {
    const tree = (depth: number): object => ({ ...aProbe, children: depth > 1 ? [tree(depth - 1)] : [] });
    expect(await call('POST', '/v1/flows', tree(5))).toMatchObject({
      status: 201,
      body: { id: expect.stringMatching(/^probe-/), children: [{ kind: 'probe' }] },
    });
    expect((await call('POST', '/v1/flows', tree(6))).body.detail).toMatch(
      /^children\[0\].*at most 5 jobs deep/,
    );

    const put = vi.spyOn(app.get(Schedules), 'put');
    const schedule = { ...aProbe, every: '1h', slot: { key: 'press', limit: 1 } };
    expect(await call('PUT', '/v1/schedules/nightly', schedule)).toMatchObject({
      status: 201,
      body: { id: 'nightly' },
    });
    expect(put).toHaveBeenCalledWith(
      'nightly',
      probe,
      expect.objectContaining({ slot: { key: 'callers/press', limit: 1 } }),
    );
    expect(await call('GET', '/v1/schedules/nightly')).toMatchObject({
      body: { kind: 'probe', every: 3_600_000 },
    });
    expect(await call('DELETE', '/v1/schedules/nightly')).toMatchObject({ status: 204 });
    expect(await call('GET', '/v1/schedules/nightly')).toMatchObject({ status: 404 });

    const asked = await call('POST', '/v1/admin/sweeps/orphans', { force: true });
    expect(asked.status).toBe(202);
    expect(await call('POST', '/v1/admin/sweeps/orphans?dryRun=true')).toMatchObject({ status: 400 });
    expect(await call('GET', `/v1/admin/sweeps/${asked.body.sweepId}`)).toMatchObject({
      body: { sweep: 'orphans', state: 'asked', force: true, lines: [], cursor: null },
    });
    vi.spyOn(app.get(Quarantine), 'page').mockResolvedValueOnce({ jobs: [], next: 100 });
    expect(await call('GET', '/v1/admin/quarantine')).toMatchObject({ body: { jobs: [], cursor: '100' } });
  });

  it.each(['x', '-1', '99999999999999999999'])('refuse the cursor %s', async (cursor) => {
    for (const list of [
      OWNER,
      `${OWNER}/history`,
      '/v1/schedules',
      '/v1/admin/quarantine',
      '/v1/admin/sweeps/sweep-1',
    ])
      expect(await call('GET', `${list}?cursor=${cursor}`)).toMatchObject({
        status: 400,
        body: { code: 'INVALID', detail: expect.stringMatching(/^cursor: /) },
      });
  });

  it('answer an unexpected error without its message, and an unavailable store with 503', async () => {
    const cancel = vi.spyOn(app.get(Owners), 'cancel');
    cancel.mockRejectedValueOnce(new Error('WRONGTYPE secret'));
    const unexpected = await call('POST', `${OWNER}/cancel`);
    cancel.mockRejectedValueOnce(new Error('Connection is closed.'));
    const away = await call('POST', `${OWNER}/cancel`);
    cancel.mockRejectedValueOnce(
      Object.assign(new UnknownKindError('x'), { code: 'TRIP_OVER', status: 409 }),
    );
    const ofWorkload = await call('POST', `${OWNER}/cancel`);

    expect(unexpected).toMatchObject({ status: 500, body: { code: 'INTERNAL' } });
    expect(JSON.stringify(unexpected.body)).not.toContain('secret');
    expect(away).toMatchObject({ status: 503, body: { code: 'STORE_UNAVAILABLE' } });
    expect(away.headers['retry-after']).toBe('2');
    expect(ofWorkload).toMatchObject({ status: 409, body: { code: 'TRIP_OVER' } });
  });

  it('require one scope each, and are all described', async () => {
    const document = SwaggerModule.createDocument(app, new DocumentBuilder().build());
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x')] as const),
    );
    expect(operations).toHaveLength(42);
    for (const [method, path] of operations) {
      const open = await Promise.all(
        ['enqueue', 'read', 'cancel', 'admin', 'none'].map(
          async (scopes) => (await call(method, path, undefined, { scopes })).status !== 403,
        ),
      );
      expect([method, path, open.filter(Boolean).length]).toEqual([method, path, 1]);
    }
    expect(JSON.stringify(document)).toContain('"EnqueueJob"');
  });

  it('report the health of the application to probes', async () => {
    const scopes = { scopes: 'none' };
    expect(await call('GET', '/mooring/livez', undefined, scopes)).toMatchObject({
      status: 200,
      body: { ok: true },
    });
    expect(await call('GET', '/mooring/readyz', undefined, scopes)).toMatchObject({
      status: 503,
      body: { why: ['draining'] },
    });
    expect(await call('GET', '/mooring/metrics', undefined, scopes)).toMatchObject({ status: 403 });
    expect(await call('GET', '/mooring/metrics')).toMatchObject({ status: 200, body: 'jobs 1\n' });
  });
});
