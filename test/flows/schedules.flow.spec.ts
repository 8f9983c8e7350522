import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { recordOf } from '../support/cancel-door.js';
import { Fleet, type Answer } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { startOdd } from '../support/odd-worker.js';
import type { TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

/** Keys that processes write at the start, and workers from time to time. */
const OF_PROCESSES = /(:(\{marker\}|meta|stalled-check)|~(partitions|remembers-jobs))$/;

/** Jobs that recur until their owners end. */
describe('a schedule', () => {
  let fleet: Fleet;
  let redis: Redis;
  beforeAll(async () => {
    // The turn of a killed worker is found when its lock has expired.
    fleet = await Fleet.start({ workers: 0, env: { WORKER_LOCK: '5s' } });
    redis = new Redis(fleet.storeUrl);
  });
  afterAll(async () => {
    await redis.quit();
    await fleet.stop();
  });

  // Each test has a schedule, owners and workers of its own.
  let tests = 0;
  let id: string;
  let path: string;
  let everySecond: { kind: string; owners: string[]; payload: object; every: string };
  let workers: TestProcess[] = [];
  beforeEach(() => {
    tests += 1;
    id = `nightly/build-${tests}`;
    path = `/v1/schedules/${encodeURIComponent(id)}`;
    everySecond = { kind: 'probe', owners: [`site:${tests}`], payload: {}, every: '1s' };
    workers = [];
  });
  afterEach(async () => {
    await fleet.request('DELETE', path);
    try {
      await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
    } finally {
      const running = workers.filter(({ hasExited }) => !hasExited);
      for (const worker of running) worker.kill('SIGTERM');
      const exits = await Promise.all(running.map(({ exited }) => exited));
      expect(exits).toEqual(running.map(() => ({ code: 0, signal: null })));
    }
  });

  it('is created, has its turns, is changed and is deleted', async () => {
    await fleet.untilReady(addWorker());
    const made = await put(everySecond);
    expect(made).toMatchObject({ status: 201, body: { id, state: 'active', lastAt: null } });
    expect(Object.keys(made.body).join(' ')).toBe(
      'id kind owners every cron timezone nextAt lastAt lastJobId state error',
    );
    const first = await nextJob();
    const second = await nextJob(first);
    for (const job of [first, second])
      expect(await fleet.untilState(job, 'completed')).toMatchObject({ owners: everySecond.owners });

    const changed = await put({
      ...everySecond,
      every: undefined,
      cron: '0 0 4 * * *',
      timezone: 'Asia/Tokyo',
    });
    expect(changed).toMatchObject({
      status: 200,
      body: { every: null, cron: '0 0 4 * * *', timezone: 'Asia/Tokyo', lastJobId: expect.any(String) },
    });
    expect(changed.body['nextAt']).toMatch(/T19:00:00.000Z$/);
    expect((await fleet.request('GET', '/v1/schedules')).body).toEqual({
      schedules: [(await fleet.request('GET', path)).body],
      cursor: null,
    });

    expect((await fleet.request('DELETE', path)).status).toBe(204);
    for (const method of ['GET', 'DELETE'])
      expect(await fleet.request(method, path)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
  });

  it('has one job for each turn with two workers', async () => {
    await Promise.all([addWorker(), addWorker()].map((worker) => fleet.untilReady(worker)));
    await put({ ...everySecond, dedup: { strategy: 'none' } });
    const first = await lastAfter(0);
    const last = await lastAfter(first.at + 2_500);
    await fleet.request('DELETE', path);
    const turns = Math.round((last.at - first.at) / 1_000);
    await until(() => began().length >= turns + 1, 'the workers have logged the turns');
    // Another turn may have begun before the schedule was deleted.
    expect([turns + 1, turns + 2]).toContain(began().length);
    expect(new Set(began()).size).toBe(began().length);
  });

  it('has one of the turns that were missed while no worker ran', async () => {
    await put({ ...everySecond, payload: { ms: 0 } });
    const [seconds] = await redis.time();
    await until(async () => Number((await redis.time())[0]) > Number(seconds) + 2, 'several were due');
    const [since, micros] = await redis.time();
    const startedAt = Number(since) * 1_000 + Number(micros) / 1_000;
    addWorker();
    await nextJob(await nextJob());
    await until(() => began().length > 1, 'the worker has logged the turns');
    expect(began().filter((job) => dueAt(job) < startedAt)).toHaveLength(1);
  });

  it.each(['before', 'after'])(
    'has each turn once when its worker is killed %s it plans the next one',
    async (when) => {
      await put({ ...everySecond, every: '1h', payload: { ms: 100 } });
      await promoteTurn();
      const env = { FAIL_POINT: `${when}:updateJobScheduler`, WORKER_LOCK: '1s' };
      const killed = startOdd('worker', fleet, 'fail-point', env);
      workers.push(killed);
      expect(await killed.exited).toEqual({ code: null, signal: 'SIGKILL' });
      const { lastJobId } = (await fleet.request('GET', path)).body;
      expect(lastJobId === null).toBe(when === 'before');

      addWorker();
      const job = await nextJob();
      await fleet.untilState(job, 'completed');
      await until(() => began().length > 0, 'the worker has logged the turn');
      expect(began()).toEqual([job]);
      expect(await turnsIn('completed')).toEqual([job]);
      expect(await turnsIn('delayed')).toHaveLength(1);
    },
  );

  it('has no turn after its owner was cancelled, even without a clean-up', async () => {
    await put(everySecond);
    const [owner] = everySecond.owners;
    const record = recordOf(fleet.prefix, owner!);
    await redis.hset(record, 'epoch', `0${await redis.hget(record, 'epoch')}`);
    addWorker();
    await until(async () => (await fleet.request('GET', path)).status === 404, 'it is gone');
    const [fact] = await until(
      () => told('job.cancelled').length > 0 && told('job.cancelled'),
      'it is logged',
    );
    expect(fact).toMatchObject({ kind: 'probe', owner });
    expect(began()).toEqual([]);
  });

  it('is removed when its owner is cancelled, without a worker', async () => {
    await put({ ...everySecond, owners: ['user:7', ...everySecond.owners] });
    const { body } = await fleet.request('POST', `/v1/owners/site/${tests}/cancel`, { reason: 'called off' });
    expect(body).toMatchObject({ schedules: 1 });
    expect((await fleet.request('GET', path)).status).toBe(404);
    expect(await put(everySecond)).toMatchObject({ status: 409, body: { code: 'OWNER_CLOSED' } });
  });

  it('is refused with an id of more than 200 bytes', async () => {
    const at = (bytes: number): Promise<Answer> =>
      fleet.request('PUT', `/v1/schedules/${'x'.repeat(bytes)}`, everySecond);
    expect((await at(200)).status).toBe(201);
    expect(await at(201)).toMatchObject({ status: 400, body: { code: 'INVALID' } });
    await fleet.request('DELETE', `/v1/schedules/${'x'.repeat(200)}`);
  });

  function put(body: object): Promise<Answer> {
    return fleet.request('PUT', path, body);
  }

  /** Waits for the next turn after `before`; returns its job id. */
  async function nextJob(before?: string): Promise<string> {
    const { body } = await until(async () => {
      const answer = await fleet.request('GET', path);
      const { lastJobId } = answer.body;
      return lastJobId !== null && lastJobId !== before && answer;
    }, 'it had its turn');
    return String(body['lastJobId']);
  }

  async function lastAfter(ms: number): Promise<{ at: number }> {
    const { body } = await until(async () => {
      const answer = await fleet.request('GET', path);
      return Date.parse(String(answer.body['lastAt'])) > ms && answer;
    }, 'it had its turn');
    return { at: Date.parse(String(body['nextAt'])) };
  }

  function addWorker(): TestProcess {
    const worker = fleet.addWorker();
    workers.push(worker);
    return worker;
  }

  /** Makes the next turn due now. */
  async function promoteTurn(): Promise<void> {
    const queue = new Queue('probe', { connection: redis, prefix: `{${fleet.prefix}}` });
    const [turn] = await turnsIn('delayed');
    await (await queue.getJob(turn!))!.promote();
    await queue.close();
  }

  /** The jobs of the schedule's owner in that state. */
  async function turnsIn(state: 'completed' | 'delayed'): Promise<string[]> {
    const ids = await redis.zrange(`{${fleet.prefix}}:probe:${state}`, '0', '-1');
    const jobs = await Promise.all(ids.map((one) => fleet.job(one)));
    return jobs.filter(({ owners }) => owners.includes(everySecond.owners[0]!)).map((job) => job.id);
  }

  function told(event: string): Record<string, unknown>[] {
    return workers.flatMap((process) => process.facts().filter((fact) => fact['event'] === event));
  }

  function began(): string[] {
    return told('job.began').map(({ jobId }) => String(jobId));
  }

  /** When the turn was due: the end of its job id. */
  function dueAt(jobId: string): number {
    return Number(jobId.slice(jobId.lastIndexOf(':') + 1));
  }
});

describe('a schedule that is refused', () => {
  // A fleet of its own, on which no other test writes anything.
  let fleet: Fleet;
  let redis: Redis;
  beforeAll(async () => {
    fleet = await Fleet.start({ workers: 0 });
    redis = new Redis(fleet.storeUrl);
  });
  afterAll(async () => {
    await redis.quit();
    await fleet.stop();
  });

  it.each<[string, object, number, string, RegExp]>([
    ['no timing', { every: undefined }, 400, 'INVALID', /either every or cron/],
    ['half a second', { every: '500ms' }, 400, 'INVALID', /at least 1s/],
    [
      'a cron of a hundred kilobytes',
      { every: undefined, cron: '*'.repeat(100_000) },
      400,
      'INVALID',
      /cron/,
    ],
    ['a wrong payload', { payload: { ms: 'long' } }, 400, 'INVALID', /ms/],
    ['no owners', { owners: [] }, 400, 'INVALID', /owners/],
    ['a field that callers may not set', { jobId: 'meta' }, 400, 'INVALID', /jobId/],
    ['an unknown kind', { kind: 'prob' }, 404, 'UNKNOWN_KIND', /prob/],
  ])('with %s, and nothing is written', async (_what, more, status, code, detail) => {
    const answer = await fleet.request('PUT', '/v1/schedules/nightly%2Fbuild', {
      kind: 'probe',
      owners: ['site:1'],
      payload: {},
      every: '1s',
      ...more,
    });
    expect(answer).toMatchObject({ status, body: { code, detail: expect.stringMatching(detail) } });
    const written = (await redis.keys(`*${fleet.prefix}*`)).filter((key) => !OF_PROCESSES.test(key));
    expect(written).toEqual([]);
  });
});
