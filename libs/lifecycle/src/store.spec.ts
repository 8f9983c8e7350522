import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { TestStore } from '../../../test/support/store.js';
import { until } from '../../../test/support/until.js';
import { StoreAwayError } from './errors.js';
import { Store } from './store.js';

function open(url: string): Promise<Redis> {
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  return new Promise((resolve) => redis.once('ready', () => resolve(redis)));
}

const unavailable = (why: string): StoreAwayError => new StoreAwayError(why, 2_000);
const AWAY = unavailable('The store cannot be reached.');
const LATE = unavailable('The store did not answer in time; what you asked for may still happen.');
const BROKE = unavailable('The connection to the store broke.');
const BEHIND = unavailable('The store is not keeping up.');

describe('a call to the store', () => {
  let redis: Redis;
  let store: Store;

  beforeEach(async () => {
    redis = await open(inject('storeUrl'));
    store = new Store({ redis, storeTimeoutMs: 10_000 });
  });

  afterEach(() => redis.disconnect());

  it('gets its answer', async () => {
    expect(await store.call(() => redis.echo('hello'))).toBe('hello');
  });

  it('gets the store’s own errors as they are', async () => {
    await expect(store.call(() => redis.call('NONSENSE'))).rejects.toThrow(/^ERR unknown command/);
  });

  it('is refused at once while there is no connection', async () => {
    redis.disconnect();
    await until(() => redis.status === 'end', 'it is disconnected');
    let asked = false;
    const ask = (): Promise<boolean> => Promise.resolve((asked = true));
    await expect(store.call(ask)).rejects.toThrow(AWAY);
    expect(asked).toBe(false);
  });

  it('says what to do when the store is away', () => {
    expect(AWAY).toMatchObject({
      name: 'StoreAwayError',
      code: 'STORE_UNAVAILABLE',
      retryAfterMs: 2_000,
      message: 'The store cannot be reached. Try again in 2 s.',
    });
  });

  it('ends when its connection breaks, with the cause', async () => {
    const call = store.call(() => redis.blpop('mooring-spec-nothing', 0));
    redis.disconnect();
    await expect(call).rejects.toThrow(BROKE);
    await expect(call).rejects.toMatchObject({ cause: { message: 'Connection is closed.' } });
  });

  it.each([
    'Connection is closed.',
    "Stream isn't writeable and enableOfflineQueue options is false",
    'connect ECONNREFUSED 127.0.0.1:6379',
    'read ECONNRESET',
    'write EPIPE',
    'LOADING Redis is loading the dataset in memory',
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    'CLUSTERDOWN The cluster is down',
    "READONLY You can't write against a read only replica.",
    'NOREPLICAS Not enough good replicas to write.',
  ])('takes "%s" for a store that is away', async (message) => {
    await expect(store.call(() => Promise.reject(new Error(message)))).rejects.toThrow(BROKE);
  });

  it.each(['WRONGTYPE Operation against a key', 'ERR LOADING is no command', 'OOMPH'])(
    'does not take "%s" for one',
    async (message) => {
      await expect(store.call(() => Promise.reject(new Error(message)))).rejects.toThrow(message);
    },
  );

  it('is refused when two thousand others are not answered yet', async () => {
    const answers: (() => void)[] = [];
    const ask = (): Promise<void> => new Promise((resolve) => answers.push(resolve));
    const calls = Array.from({ length: 1_999 }, () => store.call(ask));
    expect(await store.call(() => redis.echo('just inside'))).toBe('just inside');

    calls.push(store.call(ask));
    await expect(store.call(() => redis.echo('just outside'))).rejects.toThrow(BEHIND);

    for (const answer of answers) answer();
    await Promise.all(calls);
    expect(await store.call(() => redis.echo('room again'))).toBe('room again');
  });

  it('that throws at once is not counted for ever', async () => {
    const broken = (): never => {
      throw new Error('broken');
    };
    for (let i = 0; i < 2_000; i += 1) await store.call(broken).catch(() => undefined);
    expect(await store.call(() => redis.ping())).toBe('PONG');
  });
});

describe('a call to a store of its own', () => {
  let server: TestStore;
  let redis: Redis;

  beforeEach(async () => {
    server = await TestStore.start();
    redis = await open(server.url);
  });

  afterEach(async () => {
    redis.disconnect();
    await server.stop();
  });

  it('is not waited for longer than it may take, when the store is frozen', async () => {
    const store = new Store({ redis, storeTimeoutMs: 200 });
    server.freeze();
    const began = performance.now();
    await expect(store.call(() => redis.set('name', 'ada'))).rejects.toThrow(LATE);
    expect(performance.now() - began).toBeLessThan(5_000);

    server.thaw();
    expect(await until(() => store.call(() => redis.get('name')), 'it is answered')).toBe('ada');
  });

  it('counts as unanswered for as long as the store is frozen, and no longer', async () => {
    const store = new Store({ redis, storeTimeoutMs: 50 });
    server.freeze();
    const calls = Array.from({ length: 2_000 }, () => store.call(() => redis.ping()));
    const ends = await Promise.allSettled(calls);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    await expect(store.call(() => redis.ping())).rejects.toThrow(BEHIND);

    server.thaw();
    expect(await until(() => store.call(() => redis.ping()), 'it is answered')).toBe('PONG');
  });

  it('finds a store that has no room away', async () => {
    const store = new Store({ redis });
    await redis.config('SET', 'maxmemory', 1);
    await expect(store.call(() => redis.set('name', 'ada'))).rejects.toThrow(BROKE);
  });

  it('is refused at once when the store has gone', async () => {
    const store = new Store({ redis });
    await server.kill();
    await until(() => redis.status !== 'ready', 'the connection is lost');
    await expect(store.call(() => redis.ping())).rejects.toThrow(AWAY);
  });
});
