import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiApp, fileKey, type ApiAnswer } from '../../../../test/support/api-app.js';

const KEYS = [
  fileKey('ops'),
  fileKey('trips', { ownerTypes: ['trip'] }),
  fileKey('probes', { kinds: ['probe'] }),
  fileKey('sites', { queues: ['sites'] }),
];
const events = [{ type: 'gone', owner: 'photo:{subject}' }];
const aJob = (owners: readonly string[], more: object = {}): object => ({
  kind: 'probe',
  owners,
  payload: {},
  ...more,
});
const FORBIDDEN = { status: 403, body: { code: 'FORBIDDEN' } };
const NOT_TRIP = {
  status: 403,
  body: {
    code: 'FORBIDDEN',
    detail: 'The key "trips" is limited to the owner types trip. They do not include "photo".',
  },
};

describe('a key with limits', () => {
  let api: ApiApp;
  beforeAll(async () => (api = await ApiApp.start(KEYS, {}, events)));
  afterAll(() => api.stop());

  const call = (key: string, line: string, body?: unknown): Promise<ApiAnswer> => {
    const [method = '', path = ''] = line.split(' ');
    return api.call(key, method, path, body);
  };
  const enqueue = async (owners: readonly string[], more: object = {}): Promise<string> =>
    (await call('ops', 'POST /v1/jobs', aJob(owners, { delay: '1h', ...more }))).body.id as string;

  it('enqueues for owners of its types, each of them', async () => {
    expect(await call('trips', 'POST /v1/jobs', aJob(['trip:1']))).toMatchObject({ status: 201 });
    expect(await call('trips', 'POST /v1/jobs', aJob(['trip:1', 'photo:1']))).toMatchObject(NOT_TRIP);
    const batch = { jobs: [aJob(['trip:1']), aJob(['photo:1']), aJob(['trip:2'])] };
    expect((await call('trips', 'POST /v1/jobs/batch', batch)).body.results).toMatchObject([
      { status: 201 },
      { status: 403, code: 'FORBIDDEN' },
      { status: 201 },
    ]);
  });

  it('enqueues jobs of its kinds and queues, and learns nothing of others', async () => {
    const named = (kind: string): object => aJob(['trip:1'], { kind });
    expect(await call('probes', 'POST /v1/jobs', named('probe'))).toMatchObject({ status: 201 });
    for (const kind of ['sites.build', 'nonesuch']) {
      const { body } = await call('probes', 'POST /v1/jobs', named(kind));
      expect(body.detail).toBe(
        `The key "probes" is limited to the kinds probe. They do not include "${kind}".`,
      );
    }
    for (const kind of ['probe', 'nonesuch'])
      expect(await call('sites', 'POST /v1/jobs', named(kind))).toMatchObject({
        ...FORBIDDEN,
        body: {
          detail: expect.stringContaining(`the queues sites. They do not include the queue of the kind`),
        },
      });
  });

  it('enqueues flows of which it may enqueue every job', async () => {
    const flow = (owners: readonly string[]): object => aJob(['trip:1'], { children: [aJob(owners)] });
    expect(await call('trips', 'POST /v1/flows', flow(['trip:2']))).toMatchObject({ status: 201 });
    expect(await call('trips', 'POST /v1/flows', flow(['photo:1']))).toMatchObject(NOT_TRIP);
    const { owners: _, ...ownerless } = aJob([]) as { owners: unknown };
    expect(await call('trips', 'POST /v1/flows', ownerless)).toMatchObject({ status: 400 });
  });

  it('sees and changes a job outside its limits as little as one that does not exist', async () => {
    const id = await enqueue(['photo:1', 'trip:1']);
    const job = { id: 'probe-00000000000000000000' };
    const routes = [
      'GET ',
      'GET /payload',
      'GET /log',
      'GET /artifacts/x',
      'DELETE ',
      'POST /retry',
      'POST /promote',
    ];
    for (const route of [...routes, 'POST /priority']) {
      const at = (name: string): string => route.replace(' ', ` /v1/jobs/${name}`);
      const body = route.endsWith('priority') ? { priority: 1 } : undefined;
      const [hidden, missing] = [await call('trips', at(id), body), await call('trips', at(job.id), body)];
      const { requestId: _, ...problem } = hidden.body as { requestId: string };
      expect([route, hidden.status, missing.body]).toMatchObject([route, 404, problem]);
    }
    expect(await call('trips', `GET /v1/flows/${id}`)).toMatchObject({ status: 404 });
    expect(await call('ops', `GET /v1/jobs/${id}`)).toMatchObject({ body: { state: 'delayed' } });
    expect(await call('ops', `DELETE /v1/jobs/${id}`)).toMatchObject({ status: 200 });
    // What is remembered of it is hidden too.
    expect(await call('trips', `GET /v1/jobs/${id}`)).toMatchObject({ status: 404 });
    const own = await enqueue(['trip:9']);
    expect(await call('trips', `POST /v1/jobs/${own}/promote`)).toMatchObject({ status: 200 });
    expect(await call('sites', `GET /v1/jobs/${own}`)).toMatchObject({ status: 404 });
    expect(await call('trips', `DELETE /v1/jobs/${own}`)).toMatchObject({
      status: 200,
      body: { removed: 1 },
    });
  });

  it('sees the jobs of a flow that it may see', async () => {
    const flow = aJob(['trip:5'], { children: [aJob(['trip:6']), aJob(['photo:7'])] });
    const { id, children } = (await call('ops', 'POST /v1/flows', flow)).body;
    expect((await call('trips', `GET /v1/flows/${id}`)).body).toMatchObject({
      children: [{ id: children[0].id }],
      limitedTo: { ownerTypes: ['trip'] },
    });
    const under = aJob(['photo:5'], { children: [aJob(['trip:6'])] });
    const child = (await call('ops', 'POST /v1/flows', under)).body.children[0].id;
    expect((await call('trips', `GET /v1/flows/${child}`)).body).toMatchObject({ parent: null });
  });

  it('lists what it may see, and the list says so', async () => {
    const mine = await enqueue(['trip:list']);
    const other = await enqueue(['photo:list']);
    const idsOf = ({ body }: ApiAnswer): string[] =>
      body.jobs.map((job: { id: string }) => job.id) as string[];
    const list = await call('trips', 'GET /v1/jobs?limit=1000&state=delayed');
    expect(list.body.limitedTo).toEqual({ ownerTypes: ['trip'] });
    expect([idsOf(list).includes(mine), idsOf(list).includes(other)]).toEqual([true, false]);
    expect(idsOf(await call('ops', 'GET /v1/jobs?limit=1000&state=delayed'))).toContain(other);
    expect(await call('sites', 'GET /v1/jobs')).toMatchObject({ status: 200, body: { jobs: [] } });
    expect(await call('trips', 'GET /v1/jobs?owner=photo:list')).toMatchObject(NOT_TRIP);
    expect(await call('probes', 'GET /v1/jobs?kind=sites.build')).toMatchObject(FORBIDDEN);
    expect(await call('sites', 'GET /v1/jobs?queue=probe')).toMatchObject(FORBIDDEN);
    const { kinds } = (await call('probes', 'GET /v1/kinds')).body;
    expect(kinds).toMatchObject([{ name: 'probe' }]);
  });

  it('has pages of a list that continue', async () => {
    for (const id of [1, 2, 3]) await enqueue([id === 2 ? 'photo:page' : 'trip:page'], { priority: id });
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const from: string = cursor === null ? '' : `&cursor=${cursor}`;
      const { body } = await call('trips', `GET /v1/jobs?limit=1${from}`);
      found.push(...(body.jobs as { owners: string[] }[]).flatMap(({ owners }) => owners));
      cursor = body.cursor as string | null;
    } while (cursor !== null);
    expect(found.filter((owner) => owner === 'trip:page')).toHaveLength(2);
    expect(found.filter((owner) => owner.startsWith('photo:'))).toEqual([]);
    const { body } = await call('ops', 'GET /v1/jobs?limit=1');
    expect(await call('trips', `GET /v1/jobs?limit=1&cursor=${body.cursor}`)).toMatchObject({ status: 400 });
  });

  it('reads, cancels and lists owners of its types if it has no other limit', async () => {
    await enqueue(['trip:own']);
    const cancelId = 'limits-photo';
    await call('ops', 'POST /v1/owners/photo/own/cancel', { cancelId, close: false });
    expect(await call('trips', 'GET /v1/owners/trip/own')).toMatchObject({ body: { counts: { jobs: 1 } } });
    for (const route of ['GET ', 'GET /history', 'POST /cancel', 'POST /reopen'])
      expect(await call('trips', route.replace(' ', ' /v1/owners/photo/own'))).toMatchObject(NOT_TRIP);
    const owners = (await call('trips', 'GET /v1/owners')).body;
    expect(owners.owners.every(({ owner }: { owner: string }) => owner.startsWith('trip:'))).toBe(true);
    expect(owners).toMatchObject({
      owners: expect.arrayContaining([expect.objectContaining({ owner: 'trip:own' })]),
    });
    expect(await call('trips', 'GET /v1/owners?type=photo')).toMatchObject(NOT_TRIP);
    expect(await call('trips', 'GET /v1/owners?prefix=photo:o')).toMatchObject(NOT_TRIP);
    expect(await call('trips', `GET /v1/cancellations/${cancelId}`)).toMatchObject({ status: 404 });
    const receipt = await call('trips', 'POST /v1/owners/trip/own/cancel', {
      cancelId: 'limits-trip',
      close: false,
    });
    expect(receipt).toMatchObject({ status: 200, body: { removed: 1 } });
    const { cancellations } = (await call('trips', 'GET /v1/cancellations')).body;
    expect(cancellations).toMatchObject([{ cancelId: 'limits-trip' }, { owner: 'trip:9' }]);
    // An owner has jobs of all kinds and queues.
    for (const route of ['GET /v1/owners/trip/own', 'POST /v1/owners/trip/own/cancel', 'GET /v1/owners'])
      for (const key of ['probes', 'sites']) expect(await call(key, route)).toMatchObject(FORBIDDEN);
  });

  it('keeps the schedules of others', async () => {
    const put = (key: string, id: string, owner: string): Promise<ApiAnswer> =>
      call(key, `PUT /v1/schedules/${id}`, { ...aJob([owner]), every: '1h' });
    await put('ops', 'other', 'photo:1');
    expect(await put('trips', 'mine', 'photo:1')).toMatchObject(NOT_TRIP);
    expect(await put('trips', 'mine', 'trip:1')).toMatchObject({ status: 201 });
    expect(await put('trips', 'other', 'trip:1')).toMatchObject({
      ...FORBIDDEN,
      body: { detail: expect.stringContaining('in use') },
    });
    for (const method of ['GET', 'DELETE'])
      expect(await call('trips', `${method} /v1/schedules/other`)).toMatchObject({ status: 404 });
    expect((await call('trips', 'GET /v1/schedules')).body.schedules).toMatchObject([{ id: 'mine' }]);
    expect(await call('ops', 'GET /v1/schedules/other')).toMatchObject({ body: { owners: ['photo:1'] } });
    expect(await call('trips', 'DELETE /v1/schedules/mine')).toMatchObject({ status: 204 });
  });

  it('starts operations that are cut to its limits, and sees no others', async () => {
    const start = (key: string, filter: object): Promise<ApiAnswer> =>
      call(key, 'POST /v1/operations', { action: 'cancel', filter, dryRun: true });
    expect(await start('trips', { owner: 'photo:1' })).toMatchObject(NOT_TRIP);
    expect(await start('probes', { kind: 'sites.build' })).toMatchObject(FORBIDDEN);
    expect(await start('sites', { queue: 'probe' })).toMatchObject(FORBIDDEN);
    const { operationId: other } = (await start('ops', {})).body;
    const { operationId } = (await start('trips', { kind: 'probe' })).body;
    expect((await call('trips', `GET /v1/operations/${operationId}`)).body).toMatchObject({
      limitedTo: { ownerTypes: ['trip'] },
    });
    expect((await call('trips', 'GET /v1/operations')).body.operations).toMatchObject([{ operationId }]);
    for (const method of ['GET', 'DELETE']) {
      expect(await call('trips', `${method} /v1/operations/${other}`)).toMatchObject({ status: 404 });
      expect(await call('probes', `${method} /v1/operations/${operationId}`)).toMatchObject({ status: 404 });
    }
  });

  it('cancels by events only owners of its types', async () => {
    const event = { specversion: '1.0', id: '1', source: '/x', type: 'gone', subject: '1' };
    expect(await call('trips', 'POST /v1/events', event)).toMatchObject(NOT_TRIP);
    expect(await call('ops', 'POST /v1/events', { ...event, id: '2' })).toMatchObject({ status: 200 });
  });

  it.each([
    ['trips', 'POST /v1/trips'],
    ['trips', 'GET /v1/drivers/1/offers'],
    ['trips', 'DELETE /v1/sites/x'],
    ['trips', 'GET /v1/leases'],
    ['trips', 'GET /v1/diagrams/x'],
    ['trips', 'POST /graphviz/svg'],
    ['probes', 'GET /v1/leases'],
    ['sites', 'GET /v1/sites/x'],
    ['trips', 'GET /v1/workers'],
    ['trips', 'GET /v1/admin/queues'],
    ['trips', 'POST /v1/admin/queues/probe/pause'],
    ['sites', 'POST /v1/admin/queues/probe/pause'],
    ['trips', 'GET /v1/admin/audit'],
    ['trips', 'GET /v1/admin/slots/x'],
    ['trips', 'POST /v1/admin/sweeps/orphans'],
    ['trips', 'GET /v1/admin/quarantine'],
    ['trips', 'GET /metrics'],
    ['trips', 'GET /v1/stream'],
  ])('(%s) may not call %s', async (key, route) => {
    expect(await call(key, route)).toMatchObject(FORBIDDEN);
  });

  it('limited to queues sees and pauses these', async () => {
    const { queues, limitedTo } = (await call('sites', 'GET /v1/admin/queues')).body;
    expect({ queues, limitedTo }).toMatchObject({
      queues: [{ queue: 'sites' }],
      limitedTo: { queues: ['sites'] },
    });
    expect(await call('sites', 'POST /v1/admin/queues/sites/pause')).toMatchObject({ status: 200 });
    expect(await call('sites', 'POST /v1/admin/queues/sites/resume')).toMatchObject({ status: 200 });
  });
});
