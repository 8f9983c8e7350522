import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordOf } from '../support/cancel-door.js';
import { Fleet, type Answer } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { startOdd } from '../support/odd-worker.js';
import { until } from '../support/until.js';

const PATH = '/v1/schedules/nightly%2Fbuild';
/** Keys that processes write when they start, and workers from time to time. */
const OF_PROCESSES = /(:(\{marker\}|meta|stalled-check)|~(partitions|remembers-jobs))$/;
const everySecond = { kind: 'probe', owners: ['site:1'], payload: {}, every: '1s' };

/** Jobs that come again and again, and end with their owners. */
describe('a schedule', () => {
  let fleet: Fleet;
  let redis: Redis;
  beforeEach(async () => {
    fleet = await Fleet.start();
    redis = new Redis(fleet.storeUrl);
  });
  afterEach(async () => {
    await fleet.request('DELETE', PATH);
    await redis.quit();
    try {
      await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
    } finally {
      await fleet.stop();
    }
  });

  it('is made, has its turns, is changed, and is taken away', async () => {
    const made = await put(everySecond);
    expect(made).toMatchObject({ status: 201, body: { id: 'nightly/build', state: 'active', lastAt: null } });
    expect(Object.keys(made.body).join(' ')).toBe(
      'id kind owners every cron timezone nextAt lastAt lastJobId state error',
    );
    const first = await nextJob();
    const second = await nextJob(first);
    for (const id of [first, second])
      expect(await fleet.untilState(id, 'completed')).toMatchObject({ owners: ['site:1'] });

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
      schedules: [(await fleet.request('GET', PATH)).body],
      cursor: null,
    });

    expect((await fleet.request('DELETE', PATH)).status).toBe(204);
    for (const method of ['GET', 'DELETE'])
      expect(await fleet.request(method, PATH)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
  });

  it('has one job for each turn, with two workers', async () => {
    await fleet.untilReady(fleet.addWorker());
    await put({ ...everySecond, dedup: { strategy: 'none' } });
    const first = await lastAfter(0);
    const last = await lastAfter(first.at + 2_500);
    await fleet.request('DELETE', PATH);
    const turns = Math.round((last.at - first.at) / 1_000);
    await until(() => began().length >= turns + 1, 'the workers have logged the turns');
    // Another turn may have begun before the schedule was deleted.
    expect([turns + 1, turns + 2]).toContain(began().length);
    expect(new Set(began()).size).toBe(began().length);
  });

  it('has one of the turns that were missed while no worker ran', async () => {
    await stopWorker();
    await put({ ...everySecond, payload: { ms: 0 } });
    const [seconds] = await redis.time();
    await until(async () => Number((await redis.time())[0]) > Number(seconds) + 3, 'several were due');
    const [since, micros] = await redis.time();
    const startedAt = Number(since) * 1_000 + Number(micros) / 1_000;
    fleet.addWorker();
    await nextJob(await nextJob());
    await until(() => began().length > 1, 'the worker has logged the turns');
    expect(began().filter((id) => dueAt(id) < startedAt)).toHaveLength(1);
  });

  it.each(['before', 'after'])(
    'has each turn once when its worker is killed %s it plans the next one',
    async (when) => {
      await stopWorker();
      await put({ ...everySecond, every: '1h', payload: { ms: 100 } });
      await promoteTurn();
      const env = { FAIL_POINT: `${when}:updateJobScheduler`, WORKER_LOCK: '1s' };
      const killed = startOdd('worker', fleet, 'fail-point', env);
      expect(await killed.exited).toEqual({ code: null, signal: 'SIGKILL' });
      const { lastJobId } = (await fleet.request('GET', PATH)).body;
      expect(lastJobId === null).toBe(when === 'before');

      fleet.addWorker();
      const id = await nextJob();
      await fleet.untilState(id, 'completed');
      await until(() => began().length > 0, 'the worker has logged the turn');
      expect(began()).toEqual([id]);
      expect(await redis.zcard(`{${fleet.prefix}}:probe:completed`)).toBe(1);
      expect(await redis.zcard(`{${fleet.prefix}}:probe:delayed`)).toBe(1);
    },
  );

  it('has no turn after its owner was cancelled, though nothing was cleaned up', async () => {
    await stopWorker();
    await put(everySecond);
    const record = recordOf(fleet.prefix, 'site:1');
    await redis.hset(record, 'epoch', `0${await redis.hget(record, 'epoch')}`);
    fleet.addWorker();
    await until(async () => (await fleet.request('GET', PATH)).status === 404, 'it is gone');
    const [fact] = await until(
      () => told('job.cancelled').length > 0 && told('job.cancelled'),
      'it is logged',
    );
    expect(fact).toMatchObject({ kind: 'probe', owner: 'site:1' });
    expect(began()).toEqual([]);
  });

  it('is gone when its owner is cancelled, without a worker', async () => {
    await stopWorker();
    await put({ ...everySecond, owners: ['user:7', 'site:1'] });
    const { body } = await fleet.request('POST', '/v1/owners/site/1/cancel', { reason: 'called off' });
    expect(body).toMatchObject({ schedules: 1 });
    expect((await fleet.request('GET', PATH)).status).toBe(404);
    expect(await put(everySecond)).toMatchObject({ status: 409, body: { code: 'OWNER_CLOSED' } });
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
    ['a kind that nobody knows', { kind: 'prob' }, 404, 'UNKNOWN_KIND', /prob/],
  ])('is refused with %s, and nothing is written', async (_what, more, status, code, detail) => {
    const answer = await put({ ...everySecond, ...more });
    expect(answer).toMatchObject({ status, body: { code, detail: expect.stringMatching(detail) } });
    const written = (await redis.keys(`*${fleet.prefix}*`)).filter((key) => !OF_PROCESSES.test(key));
    expect(written).toEqual([]);
  });

  it('is refused with an id of more than 200 bytes', async () => {
    const at = (bytes: number): Promise<Answer> =>
      fleet.request('PUT', `/v1/schedules/${'x'.repeat(bytes)}`, everySecond);
    expect((await at(200)).status).toBe(201);
    expect(await at(201)).toMatchObject({ status: 400, body: { code: 'INVALID' } });
    await fleet.request('DELETE', `/v1/schedules/${'x'.repeat(200)}`);
  });

  function put(body: object): Promise<Answer> {
    return fleet.request('PUT', PATH, body);
  }

  /** The job of the turn after the one whose job is named. */
  async function nextJob(before?: string): Promise<string> {
    const { body } = await until(async () => {
      const answer = await fleet.request('GET', PATH);
      const { lastJobId } = answer.body;
      return lastJobId !== null && lastJobId !== before && answer;
    }, 'it had its turn');
    return String(body['lastJobId']);
  }

  async function lastAfter(ms: number): Promise<{ at: number }> {
    const { body } = await until(async () => {
      const answer = await fleet.request('GET', PATH);
      return Date.parse(String(answer.body['lastAt'])) > ms && answer;
    }, 'it had its turn');
    return { at: Date.parse(String(body['nextAt'])) };
  }

  async function stopWorker(): Promise<void> {
    const worker = fleet.workers[0]!;
    worker.kill('SIGTERM');
    await worker.exited;
  }

  /** Its turn is due now. */
  async function promoteTurn(): Promise<void> {
    const queue = new Queue('probe', { connection: redis, prefix: `{${fleet.prefix}}` });
    const [turn] = await queue.getDelayed();
    await turn!.promote();
    await queue.close();
  }

  function told(event: string): Record<string, unknown>[] {
    return fleet.processes.flatMap((process) => process.facts().filter((fact) => fact['event'] === event));
  }

  function began(): string[] {
    return told('job.began').map(({ jobId }) => String(jobId));
  }

  /** When the turn was due: its job's id ends with that. */
  function dueAt(jobId: string): number {
    return Number(jobId.slice(jobId.lastIndexOf(':') + 1));
  }
});
