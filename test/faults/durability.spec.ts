import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findServer } from '#runtime';
import { Fleet } from '../support/fleet.js';
import { TestProcess } from '../support/process.js';
import { freePorts, RedisServer } from '../support/redis-server.js';
import { TestStore } from '../support/store.js';
import { until } from '../support/until.js';

const A_JOB = { kind: 'probe', owners: ['trip:42'], payload: {} };
const LATER = { ...A_JOB, delay: '10m' };
/** The embedded store is always one server, and keeps nothing. */
const REAL_SERVER = findServer() !== undefined;

describe.runIf(REAL_SERVER)('DURABILITY=replica', () => {
  let master: RedisServer;
  let replica: RedisServer;
  let fleet: Fleet;
  beforeEach(async () => {
    const [masterPort, replicaPort] = await freePorts(2);
    const settings = { save: '""', 'repl-diskless-sync-delay': 0 };
    master = await RedisServer.start(masterPort!, settings);
    replica = await RedisServer.start(replicaPort!, { ...settings, replicaof: `127.0.0.1 ${masterPort}` });
    await until(
      () => replica.ask(async (redis) => (await redis.info()).includes('link_status:up')),
      'it follows',
    );
    fleet = await Fleet.start({
      storeUrl: `redis://${master.address}`,
      env: { DURABILITY: 'replica', DURABILITY_TIMEOUT: '1s' },
    });
  });
  afterEach(async () => {
    await fleet.stop();
    await Promise.all([replica.stop(), master.stop()]);
  });

  it('an enqueue, a batch, a flow and a cancel say that a replica holds them, and it does', async () => {
    const job = await durableOf('/v1/jobs', LATER);
    const flow = await durableOf('/v1/flows', { ...A_JOB, children: [A_JOB] });
    const batch = await fleet.request('POST', '/v1/jobs/batch', { jobs: [LATER, LATER] });
    const cancel = { reason: 'r', cancelId: 'c-1' };
    const cancelled = await durableOf('/v1/owners/trip/42/cancel', cancel);
    const again = await durableOf('/v1/owners/trip/42/cancel', cancel);
    await master.kill();

    expect([job, flow, cancelled, again]).toEqual([true, true, true, true]);
    expect(batch.body['results']).toMatchObject([{ durable: true }, { durable: true }]);
    const receipts = await replica.ask((redis) => redis.keys('*:cancel:*'));
    expect(receipts).toHaveLength(1);
    await restartMaster();
  });

  it('without one it is said after the time limit, and callers who wait for none are not held up', async () => {
    await durableOf('/v1/jobs', LATER);
    replica.freeze();
    const began = performance.now();
    const [first, reads] = await Promise.all([
      fleet
        .request('POST', '/v1/jobs', LATER)
        .then((answer) => ({ answer, tookMs: performance.now() - began })),
      readFor(800),
    ]);
    expect(first.answer).toMatchObject({ status: 201, body: { durable: false } });
    expect(first.tookMs).toBeGreaterThan(950);
    expect(first.tookMs).toBeLessThan(1_900);
    expect(reads.length).toBeGreaterThan(10);
    expect(Math.max(...reads)).toBeLessThan(500);

    replica.thaw();
    await until(() => durableOf('/v1/jobs', LATER), 'a replica holds it again');
  });

  it('while no replica answers a batch is not held up job by job', async () => {
    replica.freeze();
    const jobs = Array.from({ length: 1_000 }, () => LATER);
    // Until one has waited for the time limit, and the next does not.
    await until(async () => {
      const began = performance.now();
      await durableOf('/v1/jobs', LATER);
      return performance.now() - began < 500;
    }, 'it is known that no replica answers');
    const began = performance.now();
    const { body } = await fleet.request('POST', '/v1/jobs/batch', { jobs });
    const tookMs = performance.now() - began;
    replica.thaw();
    expect((body['results'] as { durable: boolean }[]).filter(({ durable }) => durable)).toEqual([]);
    expect(tookMs).toBeLessThan(5_000);
  });

  it('a receipt says later that the cancel is held, when its repeat found so', async () => {
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

  async function readFor(ms: number): Promise<number[]> {
    const took: number[] = [];
    for (const end = performance.now() + ms; performance.now() < end;) {
      const began = performance.now();
      await fleet.request('GET', '/v1/owners/trip/42');
      took.push(performance.now() - began);
    }
    return took;
  }

  /** So that the fleet ends in order. */
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

  it('a single server that syncs before it answers has it on disk, until it has a replica', async () => {
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

  it('a server that syncs each second is waited for, by all callers together', async (context) => {
    store = await TestStore.start('--appendfsync', 'everysec');
    if (!(await knowsWaitaof(store.url))) return context.skip();
    const env = { DURABILITY: 'disk', DURABILITY_TIMEOUT: '3s' };
    const fleet = await Fleet.start({ storeUrl: store.url, env });
    try {
      const began = performance.now();
      const jobs = Array.from({ length: 300 }, () => LATER);
      const { body } = await fleet.request('POST', '/v1/jobs/batch', { jobs });
      const durable = (body['results'] as { durable: boolean }[]).filter((one) => one.durable);
      expect(durable).toHaveLength(300);
      expect(performance.now() - began).toBeLessThan(6_000);
    } finally {
      await fleet.stop();
    }
  });

  it('a server without an append-only file is refused at the start', async () => {
    store = await TestStore.start('--appendonly', 'no');
    const api = startApi();
    expect(await api.exited).toEqual({ code: 1, signal: null });
    expect(api.output).toBe(
      'DURABILITY=disk: the store has no append-only file (appendonly yes). Change the store, or set DURABILITY=none.\n',
    );
  });

  it('a server that cannot say what is on disk is refused at the start', async (context) => {
    store = await TestStore.start('--appendfsync', 'everysec');
    if (await knowsWaitaof(store.url)) return context.skip();
    const api = startApi();
    expect(await api.exited).toEqual({ code: 1, signal: null });
    expect(api.output).toMatch(
      /^DURABILITY=disk: the store knows no WAITAOF .*, and is not a single server with/,
    );
  });
});

async function knowsWaitaof(url: string): Promise<boolean> {
  const redis = new Redis(url);
  const [command] = (await redis.call('COMMAND', 'INFO', 'WAITAOF')) as unknown[];
  await redis.quit();
  return command !== null;
}
