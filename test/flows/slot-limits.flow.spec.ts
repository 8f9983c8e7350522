import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Fleet, type Answer } from '../support/fleet.js';
import { intervals, mostAtOnce, type Interval } from '../support/life-facts.js';
import { Mooring } from '../support/mooring.js';
import { until } from '../support/until.js';

const EIGHT_DAYS_MS = 8 * 86_400_000;

/** Callers share slot keys, but a call changes nothing for other callers, for kinds or for deduplication. */
describe('a slot key of a caller', () => {
  let fleet: Fleet;
  /** Names of the current test: its owner and its slot. */
  let owner: string;
  let press: string;
  let tests = 0;
  beforeAll(async () => {
    fleet = await Fleet.start({ workers: 1, env: { WORKER_CONCURRENCY: '20' } });
  });
  beforeEach(() => {
    tests += 1;
    owner = `trip:${tests}`;
    press = `press-${tests}`;
  });
  afterEach(async () => {
    const receipt = await fleet.request('POST', `${addressOf(owner)}/cancel`, {
      reason: 'r',
      wait: 'drained',
    });
    expect(receipt).toMatchObject({ status: 200, body: { done: true } });
  });
  afterAll(() => fleet.stop());

  it('keeps the limit of its first use; a job with another limit is refused and not started', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, () => probe({ ms: 150 }, slot(press, 1))));
    expect(await ask(slot(press, 50))).toMatchObject({
      status: 409,
      body: { code: 'SLOT_LIMIT', detail: expect.stringContaining(`"${press}" has the limit 1,`) },
    });

    for (const id of ids) await fleet.untilState(id, 'completed');
    expect(mostAtOnce(await ranOf(ids))).toBe(1);
  });

  it('gives a repeated call the same answer, even if the limit has changed', async () => {
    const call = (): Promise<Answer> =>
      fleet.request(
        'POST',
        '/v1/jobs',
        { kind: 'probe', owners: [owner], payload: {}, ...slot(press, 1) },
        { 'idempotency-key': owner },
      );
    const first = await call();
    expect(first.status).toBe(201);
    await fleet.request('PUT', slotAddress(), { limit: 3 });
    expect(await call()).toMatchObject({ status: 201, body: first.body });
  });

  it('gets no limit from a refused job or schedule', async () => {
    press = `press/${tests}`;
    await fleet.request('POST', `${addressOf(owner)}/cancel`, { reason: 'r' });
    expect((await ask(slot(press, 1))).body).toMatchObject({ code: 'OWNER_CLOSED' });
    const order = { kind: 'probe', owners: [owner], payload: {}, every: '1h', ...slot(press, 1) };
    expect((await fleet.request('PUT', `/v1/schedules/nightly-${tests}`, order)).body).toMatchObject({
      code: 'OWNER_CLOSED',
    });
    expect((await view()).limit).toBeNull();
  });

  it('with another limit is refused alone in a batch, and in a schedule', async () => {
    await probe({}, slot(press, 2));
    const job = { kind: 'probe', owners: [owner], payload: {} };
    const { body } = await fleet.request('POST', '/v1/jobs/batch', {
      jobs: [
        { ...job, ...slot(press, 2) },
        { ...job, ...slot(press, 3) },
      ],
    });
    expect(body['results']).toMatchObject([{ status: 201 }, { status: 409, code: 'SLOT_LIMIT' }]);
    const schedule = await fleet.request('PUT', `/v1/schedules/nightly-${tests}`, {
      ...job,
      every: '1h',
      ...slot(press, 3),
    });
    expect(schedule).toMatchObject({ status: 409, body: { code: 'SLOT_LIMIT' } });
  });

  it('never names the slot of a deduplication key: control characters are refused', async () => {
    const dedup = { owners: [owner], dedup: { strategy: 'skip', key: 'nightly' } };
    const running = await probe({ ms: 1_500 }, dedup);
    await fleet.untilState(running, 'running');
    const pending = await probe({ ms: 100 }, dedup);
    const digest = createHash('sha256').update('\0probe/nightly').digest('base64url').slice(0, 22);
    for (const key of [`${owner}\0${digest}`, `\0callers\0${press}`, 'a\nb', 'a\u0085b']) {
      expect(await ask(slot(key, 50))).toMatchObject({ status: 400, body: { code: 'INVALID' } });
    }

    for (const id of [running, pending]) await fleet.untilState(id, 'completed');
    expect(mostAtOnce(await ranOf([running, pending]))).toBe(1);
  });

  it('never names the slot of a kind: heavy diagrams are drawn while a caller holds slots of that name', async () => {
    const held = await Promise.all(
      Array.from({ length: 4 }, () => probe({ ms: 60_000 }, slot('diagrams:heavy', 4))),
    );
    for (const id of held) await fleet.untilState(id, 'running');
    const made = await fleet.request('POST', '/v1/diagrams', { type: 'dbml', source: DBML, output: 'svg' });
    expect(made).toMatchObject({ status: 202 });
    const path = `/v1/diagrams/${String(made.body['id'])}`;
    await until(
      async () => (await fleet.request('GET', path)).body['state'] === 'completed',
      'it is drawn',
      20_000,
    );
    await endAll(held);
  });

  it('may have its limit raised by an administrator: waiting jobs start at once', async () => {
    press = `press/${tests}`;
    const ids = await Promise.all(Array.from({ length: 4 }, () => probe({ ms: 60_000 }, slot(press, 1))));
    const [first] = await untilRunning(ids, 1);
    await until(async () => (await view()).waiting === 3, 'three wait');
    expect(await view()).toMatchObject({ key: press, limit: 1, holding: 1, holders: [{ jobId: first }] });

    const set = await fleet.request('PUT', slotAddress(), { limit: 3 });
    expect(set).toMatchObject({ status: 200, body: { limit: 3 } });
    await untilRunning(ids, 3);
    expect((await view()).waiters).toHaveLength(1);
    expect(await ask(slot(press, 1))).toMatchObject({ status: 409, body: { code: 'SLOT_LIMIT' } });
    expect(fleet.api.facts()).toContainEqual(
      expect.objectContaining({
        event: 'slot.limit-set',
        key: press,
        was: 1,
        limit: 3,
        by: 'api',
        level: 30,
      }),
    );
    await endAll(ids);
  });

  it('may have a rate: jobs without a token wait, until an administrator takes the rate away', async () => {
    const rated = { slot: { key: press, limit: 10, rate: { max: 1, per: '1h' } } };
    const first = await probe({ ms: 0 }, rated);
    await fleet.untilState(first, 'completed');
    const ids = [await probe({ ms: 0 }, rated), await probe({ ms: 0 }, slot(press, 10))];
    await until(async () => (await view()).waiting === 2, 'two wait for a token');

    expect(await view()).toMatchObject({ limit: 10, rate: { max: 1, per: 3_600_000 }, holding: 0 });
    const waiting = await fleet.job(ids[0]!);
    expect(waiting).toMatchObject({ state: 'delayed', attempts: 0 });
    expect(waiting.timeline.map(({ event }) => event)).toContain('waiting-for-slot');
    expect(await ask({ slot: { key: press, limit: 10, rate: { max: 2, per: '1h' } } })).toMatchObject({
      status: 409,
      body: { code: 'SLOT_LIMIT', detail: expect.stringContaining('the rate 1 per 3600000 ms') },
    });
    expect(await ask({ slot: { key: press, limit: 10, rate: { max: 0, per: '1h' } } })).toMatchObject({
      status: 400,
    });
    expect(await fleet.request('PUT', slotAddress(), {})).toMatchObject({ status: 400 });

    expect(await fleet.request('PUT', slotAddress(), { rate: null })).toMatchObject({ status: 200 });
    for (const id of ids) await fleet.untilState(id, 'completed');
    expect(await view()).not.toHaveProperty('rate');
  });

  it('has its limit shown and set on the command line', async () => {
    const mooring = new Mooring({ MOORING_URL: fleet.url });
    expect((await mooring.run(['slot', press, '--limit', '2'])).stdout).toBe(
      `${press} has a limit of 2.\n0 hold a slot\n0 wait\n`,
    );
    expect(JSON.parse((await mooring.run(['slot', press, '--json'])).stdout)).toMatchObject({ limit: 2 });
    expect((await mooring.run(['slot', `${press}-other`])).stdout).toContain(
      `${press}-other has no limit yet; the next job that uses it sets one.`,
    );
  });

  it('loses its limit eight days after its last use', async () => {
    const redis = new Redis(fleet.storeUrl);
    await fleet.untilState(await probe({}, slot(press, 1)), 'completed');
    const [limit] = await redis.keys(`{${fleet.prefix}}~limit~*${press}`);
    expect(await redis.pttl(limit!)).toBeGreaterThan(EIGHT_DAYS_MS - 60_000);
    expect(await redis.pttl(limit!)).toBeLessThanOrEqual(EIGHT_DAYS_MS);
    await redis.pexpire(limit!, 1_000);
    const late = await probe({ ms: 0 }, { ...slot(press, 1), delay: '300ms' });
    await redis.pexpire(limit!, 60_000);
    await fleet.untilState(late, 'completed');
    expect(await redis.pttl(limit!)).toBeGreaterThan(60_000);

    await redis.del(limit!);
    expect(await ask(slot(press, 5))).toMatchObject({ status: 201 });
    await redis.quit();
  });

  function probe(payload: object, more: object = {}): Promise<string> {
    return fleet.probe(payload, { owners: [owner], ...more });
  }

  function slotAddress(): string {
    return `/v1/admin/slots/${encodeURIComponent(press)}`;
  }

  function slot(key: string, limit: number): { slot: { key: string; limit: number } } {
    return { slot: { key, limit } };
  }

  async function endAll(ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map((id) => fleet.request('DELETE', `/v1/jobs/${id}`)));
    // A job that waited is removed.
    for (const id of ids)
      await until(
        async () => ['cancelled', 'removed'].includes((await fleet.job(id)).state),
        `${id} has ended`,
      );
  }

  /** The log of a worker may arrive a little after the job's state. */
  function ranOf(ids: readonly string[]): Promise<Interval[]> {
    return until(() => {
      const ran = intervals(fleet.workers).filter(({ jobId, to }) => ids.includes(jobId) && to < Infinity);
      return ran.length === ids.length && ran;
    }, 'all are logged');
  }

  function ask(more: object): Promise<Answer> {
    return fleet.request('POST', '/v1/jobs', { kind: 'probe', owners: [owner], payload: {}, ...more });
  }

  async function view(): Promise<{
    limit: number | null;
    holding: number;
    waiting: number;
    waiters: string[];
  }> {
    return (await fleet.request('GET', slotAddress())).body as never;
  }

  function untilRunning(ids: readonly string[], count: number): Promise<string[]> {
    return until(async () => {
      const states = await Promise.all(ids.map(async (id) => (await fleet.job(id)).state));
      const running = ids.filter((_id, i) => states[i] === 'running');
      return running.length === count && running;
    }, `${count} run`);
  }
});

const DBML = 'Table a {\n  id int\n}';

/** A kind with routes of its own cannot be enqueued by name: not singly, in a batch, in a flow or by a schedule. */
describe('a kind of a workload', () => {
  let fleet: Fleet;
  beforeAll(async () => (fleet = await Fleet.start({ workers: 0 })));
  afterAll(() => fleet.stop());

  it.each([
    ['trips.request', { tripId: '1', driverId: 'ann' }],
    ['trips.timeout', { tripId: '1' }],
    ['sites.build', {}],
    ['containers.provision', { leaseId: '1' }],
    ['containers.end', { leaseId: '1' }],
    ['diagrams.render', { type: 'dot', output: 'svg', source: 'graph {}' }],
  ])('is unknown to callers by its name: %s', async (kind, payload) => {
    const job = { kind, owners: ['trip:1'], payload };
    const unknown = { status: 404, code: 'UNKNOWN_KIND' };
    const [single, batch, flow, schedule] = await Promise.all([
      fleet.request('POST', '/v1/jobs', job),
      fleet.request('POST', '/v1/jobs/batch', { jobs: [job] }),
      fleet.request('POST', '/v1/flows', { kind: 'probe', owners: ['trip:1'], payload: {}, children: [job] }),
      fleet.request('PUT', '/v1/schedules/one', { ...job, every: '1h' }),
    ]);
    const [inBatch] = batch.body['results'] as { status: number; code: string }[];
    expect(
      [single, flow, schedule].map(({ body }) => ({ status: body['status'], code: body['code'] })),
    ).toEqual([unknown, unknown, unknown]);
    expect(inBatch).toMatchObject(unknown);
  });
});

function addressOf(owner: string): string {
  return `/v1/owners/${owner.replace(':', '/')}`;
}
