import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet, type Answer } from '../support/fleet.js';
import { until } from '../support/until.js';

interface Listed {
  readonly id: string;
  readonly state: string;
  readonly error: string | null;
}

describe('what can be found in a fleet', () => {
  let fleet: Fleet;
  beforeAll(async () => (fleet = await Fleet.start()));
  afterAll(() => fleet.stop());

  const get = (path: string): Promise<Answer> => fleet.request('GET', path);
  const list = async (query: string): Promise<{ jobs: Listed[]; cursor: string | null }> => {
    const { status, body } = await get(`/v1/jobs?${query}`);
    expect({ status, body }).toMatchObject({ status: 200 });
    return body as unknown as { jobs: Listed[]; cursor: string | null };
  };
  const idsOf = async (query: string): Promise<string[]> => (await list(query)).jobs.map(({ id }) => id);

  it('is every job, the newest first, in pages, while others end and come', async () => {
    const made: string[] = [];
    for (let i = 0; i < 12; i += 1)
      made.push(await fleet.probe({}, { owners: ['page:1'], ...(i % 2 === 0 && { delay: '1h' }) }));
    for (const id of made.filter((_, i) => i % 2 === 1)) await fleet.untilState(id, 'completed');

    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const from: string = cursor === null ? '' : `&cursor=${cursor}`;
      const page = await list(`queue=probe&owner=page:1&limit=5${from}`);
      found.push(...page.jobs.map(({ id }) => id));
      cursor = page.cursor;
      await fleet.probe({}, { owners: ['page:1'], delay: '1h' });
    } while (cursor !== null);

    expect(found).toEqual(made.toReversed());
  });

  it('is a job by its state, kind, owner and failure', async () => {
    const owners = ['mix:1', 'mix:all'];
    const failed = await fleet.probe({ failTimes: 9 }, { owners });
    const runs = await fleet.probe({ ms: 60_000 }, { owners: ['mix:2', 'mix:all'] });
    const done = await fleet.probe({}, { owners });
    const delayed = await fleet.probe({}, { owners: ['mix:3', 'mix:all'], delay: '1h' });
    await fleet.untilState(failed, 'failed');
    await fleet.untilState(done, 'completed');
    await fleet.untilState(runs, 'running');
    const { error } = await fleet.job(failed);
    const text = encodeURIComponent(error!.slice(0, 20));

    expect(await idsOf('owner=mix:all')).toEqual([delayed, done, runs, failed]);
    expect(await idsOf('owner=mix:all&state=running&kind=probe')).toEqual([runs]);
    expect(await idsOf('owner=mix:1&state=completed')).toEqual([done]);
    expect(await idsOf('owner=mix:all&state=delayed&queue=probe')).toEqual([delayed]);
    expect(await idsOf(`owner=mix:1&error=${text}`)).toEqual([failed]);
    expect((await list('owner=mix:1&state=failed')).jobs).toMatchObject([
      { id: failed, state: 'failed', error },
    ]);

    await fleet.request('POST', '/v1/owners/mix/all/cancel', { reason: 'called off', wait: 'drained' });
    expect(await idsOf('owner=mix:all&state=removed')).toEqual([delayed]);
    expect(await idsOf('owner=mix:all&state=cancelled')).toEqual([runs]);
    expect(await idsOf('owner=mix:all')).toEqual([done, failed]);
  });

  it('is an owner with its counts, and a cancellation', async () => {
    await fleet.probe({}, { owners: ['list:1'], delay: '1h' });
    await fleet.probe({}, { owners: ['list:2'], delay: '1h' });
    const { body } = await fleet.request('POST', '/v1/owners/list/2/cancel', {});

    expect((await get('/v1/owners?type=list')).body).toMatchObject({
      owners: [
        { owner: 'list:1', state: 'open', counts: { jobs: 1, running: 0 }, oldestJobMs: expect.any(Number) },
        { owner: 'list:2', state: 'closed', counts: { jobs: 0 }, oldestJobMs: null },
      ],
      cursor: null,
    });
    const { cancellations } = (await get('/v1/cancellations?limit=1')).body;
    expect(cancellations).toEqual([body]);
    expect((await get('/v1/cancellations?open=true')).body).toEqual({ cancellations: [], cursor: null });
  });

  it('is a worker with what it runs, as of its last heartbeat', async () => {
    const id = await fleet.probe({ ms: 60_000 }, { owners: ['beat:1'] });
    const runs = async () => {
      const workers = (await get('/v1/workers')).body['workers'] as { runs: { jobId: string }[] }[];
      return workers.find((worker) => worker.runs.some(({ jobId }) => jobId === id));
    };
    expect(await until(runs, 'a heartbeat shows the run')).toMatchObject({
      host: expect.any(String),
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      state: 'running',
      queues: expect.arrayContaining([{ queue: 'probe', concurrency: 10, kinds: ['probe'] }]),
      runs: [{ jobId: id, owner: 'beat:1', since: expect.any(String) }],
    });
    await fleet.request('POST', '/v1/owners/beat/1/cancel', { wait: 'drained' });
    expect((await get('/v1/kinds')).body['kinds']).toContainEqual(expect.objectContaining({ name: 'probe' }));
  });

  it('is the tree of a flow, and the payload and log of its jobs', async () => {
    const child = { kind: 'probe', payload: { ms: 1 } };
    const flow = { kind: 'probe', owners: ['tree:1'], payload: {}, children: [child, child] };
    const { body } = await fleet.request('POST', '/v1/flows', flow);
    const id = String(body['id']);
    await fleet.untilState(id, 'completed');

    const tree = (await get(`/v1/flows/${id}`)).body;
    expect(tree).toMatchObject({
      id,
      parent: null,
      state: 'completed',
      children: [{ state: 'completed' }, { state: 'completed' }],
    });
    const [first] = tree['children'] as { id: string }[];
    expect((await get(`/v1/flows/${first!.id}`)).body).toMatchObject({ parent: id, children: [] });
    expect((await get(`/v1/jobs/${first!.id}/payload`)).body).toMatchObject({ payload: { ms: 1 } });
    expect((await get(`/v1/jobs/${first!.id}/log`)).body).toMatchObject({ lines: expect.any(Array) });
  });

  it('is described in the OpenAPI document', async () => {
    const paths = (await get('/openapi.json')).body['paths'] as Record<
      string,
      { get?: { parameters?: object[] } }
    >;
    const named = (path: string) =>
      (paths[path]!.get!.parameters as { name: string }[]).map(({ name }) => name).toSorted();
    expect(named('/v1/jobs')).toEqual(['cursor', 'error', 'kind', 'limit', 'owner', 'queue', 'state']);
    expect(named('/v1/owners')).toEqual(['cursor', 'limit', 'prefix', 'state', 'type']);
    expect(named('/v1/cancellations')).toEqual(['cursor', 'limit', 'open']);
    for (const path of [
      '/v1/workers',
      '/v1/kinds',
      '/v1/flows/{jobId}',
      '/v1/jobs/{id}/payload',
      '/v1/jobs/{id}/log',
    ])
      expect(paths[path]!.get).toBeDefined();
  });
});
