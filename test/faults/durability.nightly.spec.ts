import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findServer } from '#runtime';
import { Fleet } from '../support/fleet.js';
import { TestProcess } from '../support/process.js';
import { startRedisPair } from '../support/redis-pair.js';
import { freePorts, RedisServer } from '../support/redis-server.js';
import { TestStore } from '../support/store.js';
import { until } from '../support/until.js';

const A_JOB = { kind: 'probe', owners: ['trip:42'], payload: {} };
const LATER = { ...A_JOB, delay: '10m' };
/** How long a caller waits for a replica; long enough for a slow machine. */
const LIMIT_MS = 4_000;
/** How long a caller waits for a replica that is known not to answer. */
const FAILING_MS = 50;
/** The embedded store is always one server and keeps nothing. */
const REAL_SERVER = findServer() !== undefined;

describe.runIf(REAL_SERVER)('DURABILITY=replica', () => {
  let master: RedisServer;
  let replica: RedisServer;
  let fleet: Fleet;
  beforeEach(async () => {
    ({ master, replica } = await startRedisPair());
    fleet = await Fleet.start({
      storeUrl: `redis://${master.address}`,
      env: { DURABILITY: 'replica', DURABILITY_TIMEOUT: `${LIMIT_MS}ms` },
    });
  });
  afterEach(async () => {
    await fleet.stop();
    await Promise.all([replica.stop(), master.stop()]);
  });

  it('answers an enqueue, a batch, a flow and a cancel when a replica holds them, and says so', async () => {
    const job = await durableOf('/v1/jobs', LATER);
    const flow = await durableOf('/v1/flows', { ...A_JOB, children: [A_JOB] });
    const batch = await fleet.request('POST', '/v1/jobs/batch', { jobs: [LATER, LATER] });
    const cancel = { reason: 'r', cancelId: 'c-1' };
    const cancelled = await durableOf('/v1/owners/trip/42/cancel', cancel);
    const again = await durableOf('/v1/owners/trip/42/cancel', cancel);
    await master.kill();

    expect([job, flow, cancelled, again]).toEqual([true, true, true, true]);
    expect(batch.body['results']).toMatchObject([{ durable: true }, { durable: true }]);
    const receipts = await replica.ask((redis) => redis.keys('*~receipt~*'));
    expect(receipts).toHaveLength(1);
    await restartMaster();
  });

  it('without a replica answers after the time limit, and delays no caller that waits for none', async () => {
    await durableOf('/v1/jobs', LATER);
    replica.freeze();
    const began = performance.now();
    let isAnswered = false;
    const asked = fleet.request('POST', '/v1/jobs', LATER).finally(() => (isAnswered = true));
    await until(hasWait, 'the store is asked');
    for (let reads = 0; reads < 5; reads += 1) {
      await fleet.request('GET', '/v1/owners/trip/42');
      expect(isAnswered).toBe(false);
    }
    expect(await asked).toMatchObject({ status: 201, body: { durable: false } });
    expect(performance.now() - began).toBeGreaterThan(LIMIT_MS - 50);
    // The store waits longer than the caller does: the caller did not wait for its answer.
    expect(await hasWait()).toBe(true);

    replica.thaw();
    await until(() => durableOf('/v1/jobs', LATER), 'a replica holds it again');
  });

  it('while no replica answers delays a batch only once', async () => {
    replica.freeze();
    const jobs = Array.from({ length: 1_000 }, () => LATER);
    // Until one call has waited for the time limit and the next one does not.
    await until(
      async () => {
        const began = performance.now();
        await durableOf('/v1/jobs', LATER);
        return performance.now() - began < LIMIT_MS / 2;
      },
      'it is known that no replica answers',
      60_000,
    );
    const began = performance.now();
    const { body } = await fleet.request('POST', '/v1/jobs/batch', { jobs });
    const tookMs = performance.now() - began;
    replica.thaw();
    expect((body['results'] as { durable: boolean }[]).filter(({ durable }) => durable)).toEqual([]);
    expect(tookMs).toBeLessThan((jobs.length * FAILING_MS) / 2);
  });

  it('updates a receipt when the repeated cancel finds that a replica holds it', async () => {
    replica.freeze();
    const cancel = { reason: 'r', cancelId: 'c-1' };
    expect(await durableOf('/v1/owners/trip/42/cancel', cancel)).toBe(false);
    replica.thaw();
    const read = async (): Promise<unknown> =>
      (await fleet.request('GET', '/v1/cancellations/c-1')).body['durable'];
    expect(await read()).toBe(false);
    await until(() => durableOf('/v1/owners/trip/42/cancel', cancel), 'it is held');
    expect(await read()).toBe(true);
  });

  async function durableOf(path: string, body: object): Promise<boolean> {
    const answer = await fleet.request('POST', path, body);
    expect(answer.status).toBeLessThan(300);
    return answer.body['durable'] as boolean;
  }

  /** Whether a connection to the master waits for a replica. */
  function hasWait(): Promise<boolean> {
    return master.ask(async (redis) => /flags=\w*b.* cmd=wait\b/.test(String(await redis.client('LIST'))));
  }

  /** So that the fleet shuts down in order. */
  async function restartMaster(): Promise<void> {
    const port = master.port;
    await master.stop();
    master = await RedisServer.start(port, {});
  }
});

describe.runIf(REAL_SERVER)('DURABILITY=disk', () => {
  let store: TestStore | undefined;
  afterEach(() => store?.stop());

  const startApi = (): TestProcess =>
    TestProcess.app('api', { REDIS_URL: store!.url, PORT: '0', DURABILITY: 'disk', LOG_FORMAT: 'json' });

  it('confirms a write of a single server that syncs before it answers, until it has a replica', async () => {
    store = await TestStore.start('--appendfsync', 'always');
    const fleet = await Fleet.start({ storeUrl: store.url, env: { DURABILITY: 'disk' } });
    const [port] = await freePorts(1);
    const durable = async (): Promise<unknown> =>
      (await fleet.request('POST', '/v1/jobs', LATER)).body['durable'];
    try {
      expect(await durable()).toBe(true);
      const replica = await RedisServer.start(port!, { replicaof: `127.0.0.1 ${store.port}` });
      await until(
        () => replica.ask(async (redis) => (await redis.info()).includes('link_status:up')),
        'it follows',
      );
      const followed = await durable();
      await replica.stop();
      expect(followed).toBe(await knowsWaitaof(store.url));
    } finally {
      await fleet.stop();
    }
  });

  it('waits once for many callers if the server syncs each second', async (context) => {
    store = await TestStore.start('--appendfsync', 'everysec');
    if (!(await knowsWaitaof(store.url))) return context.skip();
    const env = { DURABILITY: 'disk', DURABILITY_TIMEOUT: '15s' };
    const fleet = await Fleet.start({ storeUrl: store.url, env });
    try {
      const before = await waitsFor(store.url);
      const jobs = Array.from({ length: 300 }, () => LATER);
      const { body } = await fleet.request('POST', '/v1/jobs/batch', { jobs });
      const durable = (body['results'] as { durable: boolean }[]).filter((one) => one.durable);
      expect(durable).toHaveLength(300);
      expect((await waitsFor(store.url)) - before).toBeLessThan(jobs.length / 3);
    } finally {
      await fleet.stop();
    }
  });

  it('refuses a server without an append-only file at the start', async () => {
    store = await TestStore.start('--appendonly', 'no');
    const api = startApi();
    expect(await api.exited).toEqual({ code: 1, signal: null });
    expect(api.output).toBe(
      'DURABILITY=disk: the store has no append-only file (appendonly yes). Change the store, or set DURABILITY=none.\n',
    );
  });

  it('refuses a server that cannot say what is on disk at the start', async (context) => {
    store = await TestStore.start('--appendfsync', 'everysec');
    if (await knowsWaitaof(store.url)) return context.skip();
    const api = startApi();
    expect(await api.exited).toEqual({ code: 1, signal: null });
    expect(api.output).toMatch(
      /^DURABILITY=disk: the store knows no WAITAOF .*, and is not a single server with/,
    );
  });
});

/** How often the store was asked to wait for its disk. */
async function waitsFor(url: string): Promise<number> {
  const redis = new Redis(url);
  const stats = await redis.info('commandstats');
  await redis.quit();
  return Number(/^cmdstat_waitaof:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
}

async function knowsWaitaof(url: string): Promise<boolean> {
  const redis = new Redis(url);
  const [command] = (await redis.call('COMMAND', 'INFO', 'WAITAOF')) as unknown[];
  await redis.quit();
  return command !== null;
}
