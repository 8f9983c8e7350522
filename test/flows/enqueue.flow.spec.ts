import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { recordOf } from '../support/cancel-door.js';
import { Fleet, type Answer } from '../support/fleet.js';
import { Proxy } from '../support/proxy.js';
import { until } from '../support/until.js';

interface OwnerAnswer {
  readonly owner: string;
  readonly state: string;
  readonly epoch: string | null;
  readonly counts: { readonly jobs: number; readonly running: number };
  readonly jobs: readonly { readonly id: string; readonly hasBegun: boolean }[];
  readonly cursor: string | null;
}

const aProbe = { kind: 'probe', owners: ['trip:42'], payload: {} };

describe('an Idempotency-Key', () => {
  const hash = (key: string): string => createHash('sha256').update(key).digest('hex');
  let fleet: Fleet;
  beforeAll(async () => {
    const scopes = 'enqueue+read';
    const API_KEYS = `shop:${scopes}:${hash('shop-key')},depot:${scopes}:${hash('depot-key')}`;
    fleet = await Fleet.start({ env: { API_KEYS, PROBE: 'on' } });
  });
  afterAll(() => fleet.stop());

  const ask = (key: string, body: object = aProbe, caller = 'shop-key'): Promise<Answer> =>
    fleet.request('POST', '/v1/jobs', body, { 'idempotency-key': key, authorization: `Bearer ${caller}` });
  const read = (path: string): Promise<Answer> =>
    fleet.request('GET', path, undefined, { authorization: 'Bearer shop-key' });
  const startsOf = (id: unknown): number =>
    fleet.workers[0]!.facts().filter(({ event, jobId }) => event === 'job.began' && jobId === id).length;

  it('returns the same answer for one job, even when that job has ended', async () => {
    const first = await ask('again');
    const second = await ask('again');
    const { id } = first.body;
    await until(async () => (await read(`/v1/jobs/${String(id)}`)).body['state'] === 'completed', 'it ended');
    const third = await ask('again');

    expect(first).toMatchObject({ status: 201, body: { outcome: 'created' } });
    for (const { status, body } of [second, third])
      expect({ status, body }).toEqual({ status: 201, body: first.body });
    expect(startsOf(id)).toBe(1);
  });

  it.each(['none', 'skip', 'replace', 'coalesce'])(
    'sent 20 times at once, with %s, gets one answer and one job',
    async (strategy) => {
      const body = { ...aProbe, owners: [`site:${strategy}`], dedup: { strategy } };
      await ask(`${strategy}-before`, { ...body, delay: '1h' });
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask(`${strategy}-at-once`, body)));

      const [first] = answers;
      expect(answers.map(({ status, body: answer }) => ({ status, answer }))).toEqual(
        answers.map(() => ({ status: first!.status, answer: first!.body })),
      );
      const { id, outcome } = first!.body;
      const outcomes = { none: 'created', skip: 'skipped', replace: 'replaced', coalesce: 'coalesced' };
      expect(outcome).toBe(outcomes[strategy as keyof typeof outcomes]);
      if (strategy !== 'skip')
        await until(
          async () => (await read(`/v1/jobs/${String(id)}`)).body['state'] === 'completed',
          'it ends',
        );
      const isLeft = strategy === 'none' || strategy === 'skip';
      await until(async () => {
        const { counts } = (await read(`/v1/owners/site/${strategy}`)).body as unknown as OwnerAnswer;
        return counts.jobs === (isLeft ? 1 : 0) && counts.running === 0;
      }, 'nothing else is left');
      expect(startsOf(id)).toBe(strategy === 'skip' ? 0 : 1);
    },
  );

  it('is refused with a different request', async () => {
    await ask('mine');
    const other = await ask('mine', { ...aProbe, payload: { ms: 1 } });
    expect(other).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_CONFLICT' } });
  });

  it('is separate for each caller', async () => {
    const [shop, depot] = [await ask('shared'), await ask('shared', aProbe, 'depot-key')];
    expect([shop.status, depot.status]).toEqual([201, 201]);
    expect(shop.body['id']).not.toBe(depot.body['id']);
  });

  it.each([
    ['', 400],
    ['x'.repeat(600), 400],
    ['{*}\\r\\n; DROP', 201],
  ])('"%s" is answered %i', async (key, status) => {
    expect((await ask(key)).status).toBe(status);
  });

  it('of an invalid request may be used again for a valid one', async () => {
    expect((await ask('corrected', { ...aProbe, payload: { ms: 'long' } })).status).toBe(400);
    expect((await ask('corrected', { ...aProbe, kind: 'prob' })).status).toBe(404);
    expect(await ask('corrected')).toMatchObject({ status: 201, body: { outcome: 'created' } });
  });
});

describe('a batch', () => {
  let fleet: Fleet;
  let proxy: Proxy;
  beforeAll(async () => {
    proxy = await Proxy.start(inject('storeUrl'));
    fleet = await Fleet.start({ storeUrl: proxy.url, workers: 0, env: { MAX_WAITING: '10000' } });
  });
  afterAll(async () => {
    await fleet.stop();
    await proxy.stop();
  });

  const send = async (jobs: readonly unknown[]): Promise<Record<string, unknown>[]> => {
    const { status, body } = await fleet.request('POST', '/v1/jobs/batch', { jobs });
    expect({ status, body }).toMatchObject({ status: 200 });
    return body['results'] as Record<string, unknown>[];
  };

  it('of 1000 valid and invalid jobs has one answer for each, in order', async () => {
    const sorts = [
      (i: number) => ({ kind: 'probe', owners: [`batch:${i}`], payload: { ms: i } }),
      () => ({ kind: 'probe', owners: ['batch:x'], payload: { ms: 'long' } }),
      () => ({ kind: 'prob', owners: ['batch:x'], payload: {} }),
      () => ({ kind: 'probe', owners: ['batch:twin'], payload: {}, dedup: { strategy: 'skip' } }),
      () => null,
    ];
    const results = await send(Array.from({ length: 1000 }, (_, i) => sorts[i % sorts.length]!(i)));

    const twin = results[3]!['id'];
    results.forEach((result, i) => {
      const answers = [
        { status: 201, outcome: 'created', owners: [`batch:${i}`] },
        { status: 400, code: 'INVALID', detail: expect.stringContaining('ms') },
        { status: 404, code: 'UNKNOWN_KIND' },
        i === 3
          ? { status: 201, outcome: 'created', id: twin }
          : { status: 200, outcome: 'skipped', id: twin },
        { status: 400, code: 'INVALID' },
      ];
      expect(result).toMatchObject(answers[i % answers.length]!);
    });
    expect(results).toHaveLength(1000);
    expect(new Set(results.flatMap(({ id }) => id ?? [])).size).toBe(201);
  });

  it.each([
    ['new ones', () => ({})],
    ['one job’s duplicates', () => ({ owners: ['batch:once'], dedup: { strategy: 'coalesce' } })],
  ])('of 1000 takes few round trips when the jobs are %s', async (_what, more) => {
    const asked = performance.now();
    proxy.lagMs = 50;
    const results = await send(Array.from({ length: 1000 }, () => ({ ...aProbe, ...more() })));
    proxy.lagMs = 0;
    expect(results.filter(({ status }) => status !== 201 && status !== 200)).toEqual([]);
    // Sent one by one, they would wait for a thousand answers, three times.
    expect(performance.now() - asked).toBeLessThan(100 * 50);
  });

  it('is accepted whole, even when four of 1000 arrive at once', async () => {
    const jobs = (n: number): object[] =>
      Array.from({ length: 1000 }, (_, i) => ({ ...aProbe, owners: [`four:${n}-${i}`] }));
    const results = await Promise.all([1, 2, 3, 4].map((n) => send(jobs(n))));
    expect(results.flat().filter(({ status }) => status !== 201)).toEqual([]);
    expect(new Set(results.flat().map(({ id }) => id)).size).toBe(4_000);
  });

  it('may be larger than one job may; only a payload that is too large is refused', async () => {
    const tooLarge = { ...aProbe, payload: 'x'.repeat(300 * 1024) };
    const text = JSON.stringify({ jobs: [aProbe, tooLarge, aProbe] }) + ' '.repeat(2 ** 21);
    const { status, body } = await fleet.request('POST', '/v1/jobs/batch', text);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { results: [{ status: 201 }, { status: 413, code: 'TOO_LARGE' }, { status: 201 }] },
    });
  });

  it('accepts no Idempotency-Key, because the key would stand for each of its jobs', async () => {
    const headers = { 'idempotency-key': 'k' };
    const answer = await fleet.request('POST', '/v1/jobs/batch', { jobs: [aProbe] }, headers);
    expect(answer).toMatchObject({
      status: 400,
      body: {
        code: 'INVALID',
        detail: 'A batch accepts no Idempotency-Key. Send jobs that need one individually.',
      },
    });
  });

  it.each([
    ['none', []],
    ['1001', Array.from({ length: 1001 }, () => aProbe)],
    ['no list', { 0: aProbe }],
  ])('of %s is refused', async (_what, jobs) => {
    const answer = await fleet.request('POST', '/v1/jobs/batch', { jobs });
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID' } });
  });
});

describe('a full queue', () => {
  const MAX = 50;
  let fleet: Fleet;
  let redis: Redis;
  beforeEach(async () => {
    redis = new Redis(inject('storeUrl'));
    fleet = await Fleet.start({ workers: 0, env: { MAX_WAITING: String(MAX) } });
  });
  afterEach(async () => {
    await fleet.stop();
    await redis.quit();
  });

  const ask = (i: number, headers = {}): Promise<Answer> =>
    fleet.request('POST', '/v1/jobs', { ...aProbe, owners: [`full:${i}`] }, headers);
  const keys = async (): Promise<string[]> => (await redis.keys(`*${fleet.prefix}*`)).toSorted();

  it('accepts exactly as many jobs as may wait and stores nothing of the others', async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => ask(i)));
    const refused = answers.filter(({ status }) => status !== 201);

    expect(answers.filter(({ status }) => status === 201)).toHaveLength(MAX);
    for (const { status, body, headers } of refused) {
      expect({ status, code: body['code'], after: headers.get('retry-after') }).toEqual({
        status: 429,
        code: 'QUEUE_FULL',
        after: '1',
      });
    }
    const before = await keys();
    expect(before.filter((key) => /:probe:probe-/.test(key))).toHaveLength(MAX);
    expect(before.filter((key) => key.startsWith(recordOf(fleet.prefix, 'full:')))).toHaveLength(MAX);
    expect((await ask(1)).status).toBe(429);
    expect(await keys()).toEqual(before);
  });

  it('lets a trigger join or replace its pending job, but adds none', async () => {
    const trigger = (strategy: string, key = 'key'): Promise<Answer> =>
      fleet.request('POST', '/v1/jobs', { ...aProbe, owners: ['full:twin'], dedup: { strategy, key } });
    const { body } = await trigger('skip');
    await Promise.all(Array.from({ length: MAX - 1 }, (_, i) => ask(i)));
    const before = await keys();

    const left = [await trigger('skip'), await trigger('coalesce')];
    expect(left.map(({ status, body: answer }) => [status, answer['outcome'], answer['id']])).toEqual([
      [200, 'skipped', body['id']],
      [200, 'coalesced', body['id']],
    ]);
    for (const { status, body: answer } of [await trigger('skip', 'other'), await trigger('none')])
      expect([status, answer['detail']]).toEqual([429, expect.stringContaining('Queue "probe"')]);
    // A coalesced job has a log that records it.
    expect((await keys()).filter((key) => !key.endsWith(':logs'))).toEqual(before);

    expect(await trigger('replace')).toMatchObject({ status: 201, body: { replaced: body['id'] } });
    expect((await keys()).filter((key) => /:probe:probe-/.test(key))).toHaveLength(MAX);
  });

  it('accepts jobs again when a worker has made room, including one that was refused before', async () => {
    await Promise.all(Array.from({ length: MAX }, (_, i) => ask(i)));
    const headers = { 'idempotency-key': 'refused' };
    expect((await ask(MAX, headers)).status).toBe(429);
    await fleet.untilReady(fleet.addWorker());

    const late = await until(async () => {
      const answer = await ask(MAX, headers);
      return answer.status === 201 && answer;
    }, 'there is room');
    expect(late.body).toMatchObject({ outcome: 'created' });
    await fleet.untilState(String(late.body['id']), 'completed');
  });
});

describe('hostile input', () => {
  let fleet: Fleet;
  beforeAll(async () => (fleet = await Fleet.start()));
  afterAll(() => fleet.stop());
  afterEach(async () => {
    const id = await fleet.probe();
    await fleet.untilState(id, 'completed');
  });

  const JOB_IDS = [
    'wait active delayed prioritized completed failed events marker pc stalled meta id limiter repeat paused',
    'priority de:a:b x:y:lock repeat:a:1 0:1 17 {x} a{b}c * [a-z] ? ٣٤ 🙂 __proto__ .. é e\u0301',
  ].flatMap((line) => line.split(' '));
  const SPACED = ['a\nb', 'a\r\nDEL x', 'a b'];

  it.each(JOB_IDS.concat(SPACED))('A5: %j as an id does no harm', async (text) => {
    const read = await fleet.request('GET', `/v1/jobs/${encodeURIComponent(text)}`);
    expect(read.status).toBe(404);
    const asId = await fleet.request('POST', '/v1/jobs', { ...aProbe, jobId: text });
    expect(asId).toMatchObject({ status: 400, body: { code: 'INVALID' } });
    const owners = [`trip:${text}`];
    const more = {
      dedup: { strategy: 'skip', key: text },
      ...(!/\p{Cc}/u.test(text) && { slot: { key: text, limit: 1 } }),
    };
    await fleet.untilState(await fleet.probe({}, { owners, ...more }), 'completed');
  });

  it('refuses slot keys with control characters', async () => {
    const answer = await fleet.request('POST', '/v1/jobs', { ...aProbe, slot: { key: 'a\nb', limit: 1 } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID' } });
  });

  const KINDS = 'a:b|{probe}|*|..|probe\0|PROBE|probe ||__proto__|constructor|toString'.split('|');

  it.each(KINDS.concat('p'.repeat(65), 'p'.repeat(900_000)))(
    'A6: %.20j as a kind is refused',
    async (kind) => {
      const answer = await fleet.request('POST', '/v1/jobs', { ...aProbe, kind });
      expect([400, 404]).toContain(answer.status);
      const named = await fleet.request('POST', '/v1/jobs', { ...aProbe, queue: kind });
      expect(named.status).toBe(400);
    },
  );

  it.each<[string, string, number]>([
    ['braces', 'a}b{c', 201],
    ['a star', '*', 201],
    ['a bracket', '[', 201],
    ['emoji', '🙂🙃', 201],
    ['a NUL', 'a\0b', 201],
    ['512 bytes', 'x'.repeat(512), 201],
    ['513 bytes', 'x'.repeat(513), 400],
    ['10 KB', 'x'.repeat(10_240), 400],
    ['half a character', '\ud83d', 400],
    ['nothing', '', 400],
  ])('A7: an owner id of %s', async (_what, id, status) => {
    const answer = await fleet.request('POST', '/v1/jobs', { ...aProbe, owners: [`trip:${id}`] });
    expect(answer.status).toBe(status);
  });

  it('A7: owners that look alike are different', async () => {
    const ids = ['é', 'e\u0301', 'É', 'a', 'A', ' a', 'ａ'];
    const tickets = await Promise.all(
      ids.map((id) => fleet.probe({}, { owners: [`twin:${id}`], dedup: { strategy: 'skip' }, delay: '1h' })),
    );
    expect(new Set(tickets).size).toBe(ids.length);
    for (const [i, id] of ids.entries()) {
      const { body } = await fleet.request('GET', `/v1/owners/twin/${encodeURIComponent(id)}`);
      expect(body).toMatchObject({ owner: `twin:${id}`, counts: { jobs: 1 }, jobs: [{ id: tickets[i] }] });
    }
  });

  it.each([
    '{"kind":"probe","owners":["a:1"],"payload":{"__proto__":{"ms":1}}}',
    '{"kind":"probe","owners":["a:1"],"payload":{"constructor":{"prototype":{"ms":1}}}}',
    '{"kind":"probe","owners":["a:1"],"payload":{},"__proto__":{"attempts":99}}',
    '{"kind":"probe","owners":["a:1"],"payload":{},"opts":{"__proto__":{"attempts":99,"lifo":true}}}',
    '{"jobs":[{"kind":"probe","owners":["a:1"],"payload":{"__proto__":{"ms":1}}}]}',
  ])('A11: %s is refused', async (text) => {
    for (const path of ['/v1/jobs', '/v1/jobs/batch']) {
      const answer = await fleet.request('POST', path, text);
      expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID' } });
    }
  });

  const OPTIONS = [
    'jobId parent repeat removeOnComplete removeOnFail telemetry deduplication sizeLimit attempts backoff lifo',
    'timestamp opts keepLogs stackTraceLimit timeout v e b failParentOnFailure ignoreDependencyOnFailure',
    'idempotencyKey maxPerOwner queue keep',
  ].flatMap((line) => line.split(' '));

  it.each(OPTIONS)('A12: a caller cannot set %s', async (option) => {
    const answer = await fleet.request('POST', '/v1/jobs', { ...aProbe, [option]: 1 });
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID' } });
    expect(answer.body['detail']).toContain(option);
  });
});

describe('an owner', () => {
  let fleet: Fleet;
  beforeAll(async () => (fleet = await Fleet.start({ env: { WORKER_CONCURRENCY: '2' } })));
  afterAll(() => fleet.stop());

  const read = async (id: string, cursor?: string | null): Promise<OwnerAnswer> => {
    const query = cursor ? `?cursor=${cursor}` : '';
    const answer = await fleet.request('GET', `/v1/owners/trip/${encodeURIComponent(id)}${query}`);
    expect(answer.status).toBe(200);
    return answer.body as unknown as OwnerAnswer;
  };

  it('that is unknown is open and has nothing', async () => {
    expect(await read('unknown')).toEqual({
      owner: 'trip:unknown',
      state: 'open',
      epoch: null,
      counts: { jobs: 0, running: 0, ending: 0 },
      jobs: [],
      cursor: null,
    });
  });

  it.each([250, 900])('of %i jobs is read page by page, each job once', async (many) => {
    const jobs = Array.from({ length: many }, () => ({
      ...aProbe,
      owners: [`trip:of-${many}`],
      delay: '1h',
    }));
    const { body } = await fleet.request('POST', '/v1/jobs/batch', { jobs });
    const made = (body['results'] as { id: string }[]).map(({ id }) => id);

    const pages: OwnerAnswer[] = [await read(`of-${many}`)];
    while (pages.at(-1)!.cursor) pages.push(await read(`of-${many}`, pages.at(-1)!.cursor));
    expect(pages.flatMap((page) => page.jobs.map(({ id }) => id)).toSorted()).toEqual(made.toSorted());
    for (const page of pages) expect(page.counts).toEqual({ jobs: many, running: 0, ending: 0 });
    // The store returns a small hash whole, whatever page was requested.
    expect(Math.max(...pages.map((page) => page.jobs.length))).toBeLessThanOrEqual(512);
  });

  it('shows which of its jobs run', async () => {
    const owners = ['trip:busy', 'driver:7'];
    const runs = await fleet.probe({ ms: 4_000 }, { owners });
    const waits = await fleet.probe({}, { owners, delay: '1h' });
    await fleet.untilState(runs, 'running');

    const busy = await until(async () => {
      const view = await read('busy');
      return view.counts.running === 1 && view;
    }, 'its run is known');
    expect(busy).toMatchObject({
      state: 'open',
      epoch: expect.stringMatching(/^\d{16}$/),
      counts: { jobs: 2 },
    });
    const begun = Object.fromEntries(busy.jobs.map(({ id, hasBegun }) => [id, hasBegun]));
    expect(begun).toEqual({ [runs]: true, [waits]: false });
    const second = await fleet.request('GET', '/v1/owners/driver/7');
    expect(second.body).toMatchObject({ counts: { jobs: 2, running: 1 } });
    await until(async () => (await read('busy')).counts.jobs === 1, 'the one that ran has left');
    expect((await read('busy')).counts).toEqual({ jobs: 1, running: 0, ending: 0 });
  });

  it.each(['a/b/c', 'a%2Fb', '?x=1', '..a', 'a:b', '#', ' ', '🙂'.repeat(128)])(
    'is found by the id %j',
    async (id) => {
      const job = await fleet.probe({}, { owners: [`trip:${id}`], delay: '1h' });
      expect(await read(id)).toMatchObject({ owner: `trip:${id}`, counts: { jobs: 1 }, jobs: [{ id: job }] });
    },
  );

  it.each([
    ['an invalid type', '/v1/owners/4%7B/1'],
    ['an id that is too long', `/v1/owners/trip/${'x'.repeat(600)}`],
    ['an invalid cursor', '/v1/owners/trip/1?cursor=-1'],
    ['a cursor beyond the store’s', '/v1/owners/trip/1?cursor=99999999999999999999'],
    ['two cursors', '/v1/owners/trip/1?cursor=0&cursor=1'],
  ])('is refused with %s', async (_what, path) => {
    const answer = await fleet.request('GET', path);
    expect(answer).toMatchObject({ body: { code: expect.stringMatching(/INVALID|NOT_FOUND|URI_TOO_LONG/) } });
    expect([400, 404, 414]).toContain(answer.status);
  });
});

describe('a job’s timeline', () => {
  let fleet: Fleet;
  beforeAll(async () => (fleet = await Fleet.start({ env: { WORKER_CONCURRENCY: '5' } })));
  afterAll(() => fleet.stop());

  it('shows when it began, failed and was retried, and why', async () => {
    const id = await fleet.probe({ failTimes: 1 });
    const { timeline } = await fleet.untilState(id, 'completed');
    expect(timeline.map(({ at: _at, ...entry }) => entry)).toEqual([
      { event: 'accepted' },
      { event: 'began', attempt: 1 },
      { event: 'failed', attempt: 1, why: 'Told to fail attempt 1.' },
      { event: 'retrying', attempt: 1 },
      { event: 'began', attempt: 2 },
      { event: 'completed' },
    ]);
    const times = timeline.map(({ at }) => at);
    expect(times).toEqual(times.toSorted());
  });

  it('shows when it failed finally', async () => {
    const id = await fleet.probe({ failTimes: 3 });
    const { timeline } = await fleet.untilState(id, 'failed');
    expect(timeline.slice(-2).map(({ at: _at, ...entry }) => entry)).toEqual([
      { event: 'began', attempt: 3 },
      { event: 'failed', why: 'Told to fail attempt 3.' },
    ]);
  });

  it('shows that it waited for its slot', async () => {
    const slot = { key: 'driver:7', limit: 1 };
    const first = await fleet.probe({ ms: 2_000 }, { slot });
    await fleet.untilState(first, 'running');
    const second = await fleet.probe({}, { slot });
    const { timeline } = await fleet.untilState(second, 'completed');
    expect(timeline.map(({ event }) => event)).toEqual([
      'accepted',
      'waiting-for-slot',
      'began',
      'completed',
    ]);
  });
});
