import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DurabilityUnknownError, type Durability, type DurabilityOptions } from '#core';
import { findServer } from '#runtime';
import { CoreKit } from '../support/core-kit.js';
import { startRedisPair } from '../support/redis-pair.js';
import { freePorts, RedisServer } from '../support/redis-server.js';
import { TestStore } from '../support/store.js';
import { until } from '../support/until.js';

const MINE = { owners: ['trip:42'], delay: 600_000 };
const FLOW = {
  name: 'top',
  queueName: 'audio',
  opts: { owners: MINE.owners },
  children: [{ name: 'child', queueName: 'audio', opts: { owners: MINE.owners } }],
};
const UNKNOWN = { code: 'DURABILITY_UNKNOWN' };
/** How long a caller waits for a replica; long enough for a slow machine. */
const LIMIT_MS = 1_500;
/** The embedded store is always one server and keeps nothing. */
const REAL_SERVER = findServer() !== undefined;

describe.runIf(REAL_SERVER)('durability: replica', () => {
  let master: RedisServer;
  let replica: RedisServer;
  let kit: CoreKit;

  beforeAll(async () => {
    ({ master, replica } = await startRedisPair());
  });

  beforeEach(() => {
    kit = new CoreKit(`redis://${master.address}`, { durability: replicated() });
  });

  afterEach(async () => {
    replica.thaw();
    await kit.stop();
  });

  afterAll(() => Promise.all([replica.stop(), master.stop()]));

  const replicated = (timeoutMs = LIMIT_MS): DurabilityOptions => ({ level: 'replica', timeoutMs });
  const queue = (durability: Durability | DurabilityOptions = replicated()) =>
    kit.queue('audio', { durability });

  it('answers an add, a batch, a ticket, a flow and a cancel when a replica has them', async () => {
    const audio = queue();
    const job = await audio.add('x', {}, { ...MINE, jobId: 'once' });
    const plain = await audio.add('plain', {});
    await audio.addBulk([1, 2].map(() => ({ name: 'x', data: {}, opts: MINE })));
    expect(await audio.enqueue('x', {}, { ...MINE, jobId: 'once' })).toMatchObject({ outcome: 'existing' });
    await kit.flows({ durability: replicated() }).add(FLOW);
    const order = { cancelId: 'c-1', reason: 'r' };
    const receipt = await kit.owners.cancel('trip:42', order);

    expect(receipt).toMatchObject({ durable: true, removed: 5 });
    expect(await kit.owners.cancel('trip:42', order)).toEqual(receipt);
    expect(await kit.owners.receipt('c-1')).toMatchObject({ durable: true });
    const held = await replica.ask((redis) =>
      Promise.all([
        redis.hget(`${kit.prefix}~receipt~c-1`, 'owner'),
        redis.hget(`${kit.prefix}:audio:${plain.id}`, 'name'),
        redis.exists(`${kit.prefix}:audio:${job.id}`),
      ]),
    );
    expect(held).toEqual(['trip:42', 'plain', 0]);
  });

  it('without a replica rejects after the time limit, with an error that says that the job is accepted', async () => {
    const audio = queue();
    await audio.add('x', {}, MINE);
    replica.freeze();
    const began = performance.now();
    let isAnswered = false;
    const asked = audio.enqueue('x', {}, { ...MINE, jobId: 'late' }).finally(() => (isAnswered = true));
    asked.catch(() => undefined);
    await until(hasWait, 'the store is asked');
    // Calls that wait for no replica are not delayed, even on the same connection.
    for (let reads = 0; reads < 5; reads += 1) expect(await kit.owners.get('trip:42')).toBeDefined();
    expect(isAnswered).toBe(false);

    await expect(asked).rejects.toMatchObject({ ...UNKNOWN, answer: { outcome: 'created', id: 'late' } });
    await expect(asked).rejects.toBeInstanceOf(DurabilityUnknownError);
    await expect(asked).rejects.toThrow('It was accepted, and may be lost with the server');
    expect(performance.now() - began).toBeGreaterThan(LIMIT_MS - 50);
    // The store waits longer than the caller does: the caller did not wait for its answer.
    expect(await hasWait()).toBe(true);
    expect(await audio.getDelayedCount()).toBe(2);

    replica.thaw();
    await until(() => isConfirmed(audio.enqueue('x', {}, { ...MINE, jobId: 'late' })), 'it is held');
    expect(await audio.getDelayedCount()).toBe(2);
  });

  it('while no replica answers delays a bulk only once, and each bulk and flow reports it', async () => {
    const audio = queue();
    replica.freeze();
    // Until one call has waited for the time limit and the next one does not.
    await until(async () => {
      const asked = performance.now();
      await expect(audio.add('x', {}, MINE)).rejects.toMatchObject(UNKNOWN);
      return performance.now() - asked < LIMIT_MS / 2;
    }, 'it is known that no replica answers');
    const { count } = (await kit.owners.get('trip:42'))!;
    const began = performance.now();
    const bulk = Array.from({ length: 300 }, () => ({ name: 'x', data: {}, opts: MINE }));

    await expect(audio.addBulk(bulk)).rejects.toMatchObject({ ...UNKNOWN, answer: { length: 300 } });
    await expect(audio.add('plain', {}, {})).rejects.toMatchObject(UNKNOWN);
    const [one] = await audio.enqueueBulk([{ name: 'x', data: {}, opts: { ...MINE, jobId: 'one' } }]);
    expect(one).toMatchObject({ status: 'rejected', reason: { ...UNKNOWN, answer: { id: 'one' } } });

    // Each call alone would wait for the time limit.
    expect(performance.now() - began).toBeLessThan(LIMIT_MS);
    await expect(kit.flows({ durability: replicated() }).add(FLOW)).rejects.toMatchObject(UNKNOWN);
    expect(await kit.owners.get('trip:42')).toMatchObject({ count: count + 303 });
  });

  it('rejects an invalid call at once', async () => {
    const audio = queue(replicated(60_000));
    await kit.owners.cancel('trip:closed');
    await kit.owners.cancel('trip:1', { cancelId: 'c-1' });
    replica.freeze();

    const closed = { ...MINE, owners: ['trip:closed'] };
    await expect(audio.add('x', {}, closed)).rejects.toMatchObject({ code: 'OWNER_CLOSED' });
    await expect(kit.owners.cancel('trip:2', { cancelId: 'c-1' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
    expect(await hasWait()).toBe(false);
  });

  it('updates a receipt when the repeated cancel finds that a replica holds it', async () => {
    await queue().add('x', {}, MINE);
    replica.freeze();
    const order = { cancelId: 'c-1' };
    const first = kit.owners.cancel('trip:42', order);
    await expect(first).rejects.toMatchObject({
      ...UNKNOWN,
      answer: { cancelId: 'c-1', removed: 1, done: true, durable: false },
    });
    expect(await kit.owners.receipt('c-1')).toMatchObject({ durable: false });

    replica.thaw();
    await until(() => isConfirmed(kit.owners.cancel('trip:42', order)), 'it is held');

    expect(await kit.owners.receipt('c-1')).toMatchObject({ removed: 1, durable: true });
  });

  it('asks the store once for many jobs', async () => {
    const audio = queue();
    await audio.add('x', {}, MINE);
    const before = await calls('wait');

    await audio.addBulk(Array.from({ length: 500 }, () => ({ name: 'x', data: {}, opts: MINE })));
    expect((await calls('wait')) - before).toBe(1);
    await Promise.all(Array.from({ length: 500 }, () => audio.add('x', {}, MINE)));

    expect((await calls('wait')) - before).toBeLessThan(50);
  });

  it('confirms no job whose connection broke meanwhile: another server may have received it', async () => {
    const audio = queue();
    await audio.add('x', {}, MINE);
    const id = await kit.redis.client('ID');
    replica.freeze();
    const asked = audio.add('x', {}, MINE);
    asked.catch(() => undefined);
    await until(hasWait, 'it waits');

    await master.ask((other) => other.client('KILL', 'ID', id));
    await until(async () => (await kit.redis.client('ID')) !== id, 'it is connected again');
    replica.thaw();

    await expect(asked).rejects.toMatchObject(UNKNOWN);
    await until(() => isConfirmed(audio.add('x', {}, MINE)), 'the next one is held');
  });

  it('confirms no job when its wait reached another server', async () => {
    const others = await startRedisPair();
    const duplicate = kit.redis.duplicate.bind(kit.redis);
    try {
      const elsewhere = new Redis(others.master.port, { lazyConnect: true });
      kit.redis.duplicate = (options) => elsewhere.duplicate(options);
      await expect(queue().add('x', {}, MINE)).rejects.toMatchObject(UNKNOWN);
      expect(await others.master.ask((redis) => redis.exists(`${kit.prefix}~barrier`))).toBe(1);
    } finally {
      kit.redis.duplicate = duplicate;
      await Promise.all([others.replica.stop(), others.master.stop()]);
    }
  });

  it('closes its connections with the queue, even during a wait', async () => {
    const clients = (): Promise<number> =>
      master.ask(async (redis) => String(await redis.client('LIST')).split('\n').length);
    const before = await clients();
    const audio = queue(replicated(60_000));
    await audio.add('x', {}, MINE);
    replica.freeze();
    const asked = audio.add('x', {}, MINE);
    asked.catch(() => undefined);
    await until(hasWait, 'it waits');

    await audio.close();

    await expect(asked).rejects.toMatchObject(UNKNOWN);
    await until(async () => (await clients()) === before, 'its connections are closed');
  });

  it('costs nothing at level none: the store is not asked to wait', async () => {
    const before = await calls('wait');
    const audio = kit.queue('video', { durability: { level: 'none' } });
    await kit.queue().add('x', {}, MINE);
    await audio.add('x', {}, MINE);

    expect((await calls('wait')) - before).toBe(0);
    expect(await kit.redis.exists(`${kit.prefix}~barrier`)).toBe(0);
  });

  it('asks a custom port where one is given', async () => {
    const port: Durability = { hold: async (write) => ({ value: await write(), isHeld: false }) };

    const before = await calls('wait');

    await expect(queue(port).add('x', {}, MINE)).rejects.toMatchObject(UNKNOWN);

    expect((await calls('wait')) - before).toBe(0);
  });

  it.each([{ level: 'both' }, { level: 'replica', timeoutMs: 0 }])('is refused as %j', (durability) => {
    expect(() => queue(durability as never)).toThrow(/durability/);
  });

  function isConfirmed(asked: Promise<unknown>): Promise<boolean> {
    return asked.then(
      () => true,
      () => false,
    );
  }

  /** Whether a connection to the master waits for a replica. */
  function hasWait(): Promise<boolean> {
    return master.ask(async (redis) => /flags=\w*b.* cmd=wait\b/.test(String(await redis.client('LIST'))));
  }

  function calls(command: string): Promise<number> {
    return master.ask(async (redis) => {
      const stats = new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(
        await redis.info('commandstats'),
      );
      return Number(stats?.[1] ?? 0);
    });
  }
});

describe.runIf(REAL_SERVER)('durability: disk', () => {
  let store: TestStore;
  let kit: CoreKit;

  afterEach(async () => {
    await kit.stop();
    await store.stop();
  });

  const durability: DurabilityOptions = { level: 'disk', timeoutMs: 15_000 };
  const add = () => kit.queue('audio', { durability }).add('x', {}, MINE);

  async function start(...args: string[]): Promise<void> {
    store = await TestStore.start(...args);
    kit = new CoreKit(store.url, { durability });
  }

  it('confirms a write of a single server that syncs before it answers, until it has a replica', async () => {
    await start('--appendfsync', 'always', '--repl-diskless-sync-delay', '0');
    await add();
    expect(await kit.owners.cancel('trip:42')).toMatchObject({ durable: true });
    await kit.owners.reopen('trip:42');
    const [port] = await freePorts(1);
    const replica = await RedisServer.start(port!, { replicaof: `127.0.0.1 ${store.port}` });
    try {
      await until(
        () => replica.ask(async (redis) => (await redis.info()).includes('link_status:up')),
        'it follows',
      );
      const followed = await add().then(
        () => true,
        () => false,
      );
      expect(followed).toBe(await knowsWaitaof());
    } finally {
      await replica.stop();
    }
  });

  it('waits once for many callers if the server syncs each second', async (context) => {
    await start('--appendfsync', 'everysec');
    if (!(await knowsWaitaof())) return context.skip();
    await Promise.all(Array.from({ length: 300 }, add));
    const stats = await kit.redis.info('commandstats');
    expect(Number(/^cmdstat_waitaof:calls=(\d+)/m.exec(stats)?.[1])).toBeLessThan(100);
  });

  it('refuses a server without an append-only file before it writes anything', async () => {
    await start('--appendonly', 'no');

    const refused = { code: 'INVALID', message: expect.stringContaining('no append-only file') };
    await expect(add()).rejects.toMatchObject(refused);
    await expect(kit.owners.cancel('trip:42')).rejects.toMatchObject(refused);

    expect(await kit.ownerKeys()).toEqual([]);
  });

  it('refuses a server that cannot say what is on disk before it writes anything', async (context) => {
    await start('--appendfsync', 'everysec');
    if (await knowsWaitaof()) return context.skip();

    await expect(add()).rejects.toThrow(/knows no WAITAOF .*, and is not a single server with/);

    expect(await kit.ownerKeys()).toEqual([]);
  });

  async function knowsWaitaof(): Promise<boolean> {
    const [command] = (await kit.redis.call('COMMAND', 'INFO', 'WAITAOF')) as unknown[];
    return command !== null;
  }
});
