import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cancelByScript } from '../support/cancel-door.js';
import { Fleet, type Answer } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { startOdd } from '../support/odd-worker.js';
import { TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

const PATH = '/v1/schedules/nightly%2Fbuild';
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
    await startJanitor();
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

  it('has one job for each turn, with two that take turns', async () => {
    await Promise.all([startJanitor('100ms'), startJanitor('100ms')]);
    await put({ ...everySecond, dedup: { strategy: 'none' } });
    const began = await lastAfter(0);
    const ended = await lastAfter(began.at + 2_500);
    await fleet.request('DELETE', PATH);
    const turns = Math.round((ended.at - began.at) / 1_000);
    await until(() => accepted().length >= turns + 1, 'both have said what they did');
    // One more may have come before it was taken away.
    expect([turns + 1, turns + 2]).toContain(new Set(accepted()).size);
  });

  it('that nobody gave its turns has one when somebody comes', async () => {
    await put({ ...everySecond, payload: { ms: 0 } });
    const [seconds] = await redis.time();
    await until(async () => Number((await redis.time())[0]) > Number(seconds) + 3, 'several were due');
    await startJanitor('1h');
    await nextJob();
    await until(() => accepted().length > 0, 'it is said');
    expect(accepted()).toHaveLength(1);
  });

  it('makes one job of a turn whose process is killed between the job and the turn’s end', async () => {
    await put({ ...everySecond, every: '1h', payload: { ms: 100 } });
    await makeDue();
    const dies = startOdd('janitor', fleet, 'fail-point', { FAIL_POINT: 'before:turn' });
    expect(await dies.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect((await fleet.request('GET', PATH)).body).toMatchObject({ lastJobId: null });

    await makeDue('again');
    await startJanitor();
    const id = await nextJob();
    await fleet.untilState(id, 'completed');
    await until(() => accepted().length > 0, 'it is said');
    expect(new Set(accepted())).toEqual(new Set([id]));
    expect(await redis.zcard(`{${fleet.prefix}}:probe:completed`)).toBe(1);
  });

  it('whose owner is cancelled has no turn after it, though nothing was tidied up', async () => {
    await put(everySecond);
    await cancelByScript(redis, fleet.prefix, 'site:1');
    await startJanitor();
    await until(async () => (await fleet.request('GET', PATH)).status === 404, 'it is gone');
    expect(accepted()).toEqual([]);
  });

  it('is gone when its owner is cancelled, without anybody who gives turns', async () => {
    await put({ ...everySecond, owners: ['user:7', 'site:1'] });
    await fleet.request('POST', '/v1/owners/site/1/cancel', { reason: 'called off' });
    await until(async () => (await fleet.request('GET', PATH)).status === 404, 'it is gone');
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
    // Each process writes the marker by which it would notice a store that went back.
    const written = (await redis.keys(`${fleet.prefix}:*`)).filter((key) => !key.endsWith(':{marker}'));
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

  async function startJanitor(every = '100ms'): Promise<void> {
    const janitor = TestProcess.app('janitor', {
      REDIS_URL: fleet.storeUrl,
      MOORING_PREFIX: fleet.prefix,
      SCHEDULES_EVERY: every,
      LOG_LEVEL: 'debug',
      LOG_FORMAT: 'json',
    });
    fleet.processes.push(janitor);
    await fleet.untilReady(janitor);
  }

  function said(event: string): Record<string, unknown>[] {
    return fleet.processes.flatMap((process) => process.facts().filter((fact) => fact['event'] === event));
  }

  function accepted(): string[] {
    return said('job.accepted').map(({ jobId }) => String(jobId));
  }

  /** Now, or what is left of it after a claim: whoever held it is dead. */
  async function makeDue(again?: 'again'): Promise<void> {
    const book = `${fleet.prefix}:{schedules}`;
    const [name] = (await redis.zrange(book, '0', '0')) as [string];
    if (!again) await redis.hset(`${book}:${name}`, 'n', 1);
    await redis.zadd(book, 1, name);
  }
});
