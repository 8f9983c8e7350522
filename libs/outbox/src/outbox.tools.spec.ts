import type { MooredQueue } from '#core';
import { Client, Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit } from '../../../test/support/core-kit.js';
import { Postgres } from '../../../test/support/postgres.js';
import { until } from '../../../test/support/until.js';
import {
  migrate,
  migrationSql,
  Outbox,
  OutboxRelay,
  OutboxRows,
  QueuesTarget,
  type RelayOptions,
} from './index.js';

describe('an outbox', () => {
  let postgres: Postgres;
  let pool: Pool;
  let kit: CoreKit;
  let queue: MooredQueue;
  let rows: OutboxRows;
  const relays: OutboxRelay[] = [];
  const outbox = new Outbox();

  beforeAll(async () => {
    postgres = await Postgres.start();
    pool = new Pool({ connectionString: postgres.url, max: 12 });
    pool.on('error', () => undefined);
    await Promise.all([migrate(pool), migrate(pool), migrate(pool)]);
    await pool.query('create table photos (id text primary key)');
    rows = new OutboxRows(pool);
  });

  afterAll(async () => {
    await pool?.end();
    await postgres?.stop();
  });

  beforeEach(async () => {
    kit = new CoreKit();
    queue = kit.queue();
    await pool.query('truncate mooring.outbox, photos');
  });

  afterEach(async () => {
    await Promise.all(relays.splice(0).map((relay) => relay.stop()));
    await queue.obliterate({ force: true });
    for (const what of ['once', 'ended', 'takes-late']) {
      const keys = await kit.redis.keys(`${kit.prefix}~${what}*`);
      if (keys.length > 0) await kit.redis.del(keys);
    }
    await kit.stop();
  });

  const relay = (options: RelayOptions = {}, of = new QueuesTarget([queue], kit.owners)) =>
    new OutboxRelay(pool, of, { onError: (error) => kit.errors.push(error), ...options });

  const started = (options: RelayOptions = {}): OutboxRelay => {
    const one = relay(options);
    relays.push(one);
    one.start();
    return one;
  };

  const relayAll = async (one = relay()): Promise<void> => {
    while ((await one.relayOnce()) > 0);
  };

  const enqueue = (owner: string, opts = {}, client: Pool | Client = pool) =>
    outbox.enqueue(client, {
      queue: 'audio',
      name: 'x',
      data: { owner },
      opts: { owners: [owner], ...opts },
    });

  const stateOf = async (id: string) => {
    const sql = 'select state, code from mooring.outbox where id = $1';
    return (await pool.query<{ state: string; code: string | null }>(sql, [id])).rows[0];
  };

  async function inTransaction(end: 'commit' | 'rollback', work: (client: Client) => Promise<void>) {
    const client = new Client(postgres.url);
    await client.connect();
    try {
      await client.query('begin');
      await work(client);
      await client.query(end);
    } finally {
      await client.end();
    }
  }

  it('adds the job of a transaction that commits, once, and nothing of one that is rolled back', async () => {
    started();
    let id = '';
    const both = async (client: Client): Promise<void> => {
      await client.query(`insert into photos values ('1') on conflict do nothing`);
      ({ id } = await enqueue('photo:1', {}, client));
    };
    await inTransaction('rollback', both);
    await inTransaction('commit', both);

    await until(async () => (await stateOf(id))?.state === 'done', 'it was relayed');
    expect(await queue.count()).toBe(1);
    expect(await queue.getJob(id)).toMatchObject({ name: 'x', data: { owner: 'photo:1' } });
    expect((await pool.query('select id from mooring.outbox')).rows).toEqual([{ id }]);
  });

  it('wakes its relay by a notification, and by polling where there is none', async () => {
    started({ pollEvery: '1h' });
    const first = await enqueue('photo:1');
    await until(async () => (await stateOf(first.id))?.state === 'done', 'it was notified');

    await pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen mooring_outbox'`,
    );
    const second = await enqueue('photo:1');
    await until(async () => (await stateOf(second.id))?.state === 'done', 'it listens again');

    await pool.query(migrationSql({ notify: false }));
    started({ pollEvery: 20 });
    const third = await enqueue('photo:1');
    await until(async () => (await stateOf(third.id))?.state === 'done', 'it polls');
    await migrate(pool);
  });

  it('keeps the data as it was given', async () => {
    const data = { text: 'a\0b\ud800 é', big: 1e300, nested: [{ a: null }], key: '__proto__' };
    const { id } = await outbox.enqueue(pool, {
      queue: 'audio',
      name: 'x',
      data,
      opts: { owners: ['photo:\0'] },
    });
    await relayAll();
    expect((await queue.getJob(id))!.data).toEqual(data);
  });

  it('applies a cancel to earlier enqueues and not to later ones, in one batch, in single rows and with several relays', async () => {
    for (const [n, batches] of [
      [1, [200]],
      [2, [1]],
      [3, [3, 3, 3]],
    ] as const) {
      const owner = `photo:${n}`;
      const before = await Promise.all([enqueue(owner), enqueue(owner), enqueue(owner)]);
      await outbox.cancel(pool, owner, { close: false });
      const between = await enqueue(owner);
      await outbox.cancel(pool, owner);
      const refused = await enqueue(owner);
      await outbox.reopen(pool, owner);
      const after = await Promise.all([enqueue(owner), enqueue(owner)]);

      await Promise.all(batches.map((batch) => relayAll(relay({ batch }))));
      await relayAll();

      const waiting = (await queue.getJobs(['prioritized'])).filter(({ data }) => data.owner === owner);
      expect(waiting.map(({ id }) => String(id)).toSorted()).toEqual(after.map(({ id }) => id).toSorted());
      expect(await stateOf(refused.id)).toEqual({ state: 'refused', code: 'OWNER_CLOSED' });
      for (const { id } of [...before, between]) expect(await queue.getJob(id)).toBeUndefined();
    }
  });

  it('does not revive work of an owner that was cancelled after the enqueue, also when it is open again', async () => {
    await kit.owners.takeLate();
    const [kept, closed] = [await enqueue('photo:1'), await enqueue('photo:2')];
    await until(async () => (await rows.counts()).oldestDueMs > 20, 'the clocks can tell');
    await kit.owners.cancel('photo:1', { close: false });
    await kit.owners.cancel('photo:2');
    await kit.owners.reopen('photo:2');
    const later = await enqueue('photo:1');

    await relayAll();

    expect(await stateOf(kept.id)).toEqual({ state: 'refused', code: 'OWNER_CANCELLED' });
    expect(await stateOf(closed.id)).toEqual({ state: 'refused', code: 'OWNER_CANCELLED' });
    expect(await stateOf(later.id)).toEqual({ state: 'done', code: null });
    expect(await queue.count()).toBe(1);
  });

  it('keeps what follows a cancel in the same transaction', async () => {
    const one = started();
    for (let n = 0; n < 5; n += 1) {
      let id = '';
      await inTransaction('commit', async (client) => {
        await enqueue('photo:1', {}, client);
        await outbox.cancel(client, 'photo:1', { close: false });
        ({ id } = await enqueue('photo:1', {}, client));
      });
      await until(async () => (await stateOf(id))?.state === 'done', 'it was relayed');
      expect(await queue.getJob(id)).toBeDefined();
    }
    await one.stop();
    expect(await queue.count()).toBe(1);
  });

  it('cancels one job, relayed or not', async () => {
    const [early, late] = [await enqueue('photo:1'), await enqueue('photo:1')];
    await outbox.cancelJob(pool, early, { reason: 'not wanted' });
    await relayAll();
    expect(await queue.getJob(early.id)).toBeUndefined();
    expect(await stateOf(early.id)).toEqual({ state: 'refused', code: 'CANCELLED' });

    const { cancelId } = await outbox.cancelJob(pool, late);
    await relayAll();
    expect(await queue.getJob(late.id)).toBeUndefined();
    expect(await kit.owners.receipt(cancelId)).toMatchObject({ removed: 1 });
  });

  it('retries what has no room, counts from the enqueue, and keeps the rest with its reason', async () => {
    await queue.close();
    queue = kit.queue('audio', { limits: { perQueue: 1 } });
    const [first, second] = [await enqueue('photo:1'), await enqueue('photo:2', { expiresIn: '1h' })];
    const unknown = await outbox.enqueue(pool, {
      queue: 'video',
      name: 'x',
      data: {},
      opts: { owners: ['photo:1'] },
    });
    await kit.owners.cancel('photo:3');
    const closed = await enqueue('photo:3');
    await relayAll();

    expect(await rows.counts()).toMatchObject({ pending: 2, refused: 1 });
    expect(await stateOf(second.id)).toEqual({ state: 'pending', code: 'QUEUE_FULL' });
    expect(await stateOf(unknown.id)).toEqual({ state: 'pending', code: 'FAILED' });
    expect(await rows.list()).toMatchObject([
      {
        id: closed.id,
        action: 'enqueue',
        owners: ['photo:3'],
        code: 'OWNER_CLOSED',
        reason: expect.stringContaining('photo:3'),
      },
    ]);

    await queue.remove(first.id);
    await pool.query(`update mooring.outbox set due_at = now() where state = 'pending'`);
    await relayAll();
    expect(await stateOf(second.id)).toEqual({ state: 'done', code: null });

    await queue.remove(second.id);
    await kit.owners.reopen('photo:3');
    expect(await rows.retry([closed.id, second.id])).toBe(1);
    await relayAll();
    expect(await stateOf(closed.id)).toEqual({ state: 'done', code: null });
  });

  it('refuses a row that no relay has understood for long', async () => {
    const { id } = await outbox.enqueue(pool, {
      queue: 'video',
      name: 'x',
      data: {},
      opts: { owners: ['photo:1'] },
    });
    await pool.query('update mooring.outbox set attempts = 59');
    await relayAll();
    expect(await rows.list()).toMatchObject([
      { id, code: 'FAILED', reason: 'The relay has no queue "video".' },
    ]);
  });

  it('removes rows that ended some time ago', async () => {
    await enqueue('photo:1');
    await relayAll();
    expect(await rows.purge('done', 60_000)).toBe(0);
    started({ keepDone: 1 });
    await until(async () => (await rows.list({ state: 'done' })).length === 0, 'it was removed');
  });

  it('relays nothing, and loses nothing, while the store is away', async () => {
    const { id } = await enqueue('photo:1');
    const away = new QueuesTarget([queue], kit.owners);
    let isAway = true;
    const answer = away.now.bind(away);
    away.now = () => (isAway ? Promise.reject(new Error('away')) : answer());
    await expect(relay({}, away).relayOnce()).rejects.toThrow('away');
    const broken = new QueuesTarget([queue], kit.owners);
    let asked = 0;
    broken.now = () => ((asked += 1) < 3 ? answer() : Promise.reject(new Error('away')));
    broken.enqueue = () => Promise.reject(new Error('Connection is closed.'));
    await expect(relay({}, broken).relayOnce()).rejects.toThrow('away');
    expect((await rows.list({ state: 'pending' }))[0]).toMatchObject({ id, attempts: 0 });
    isAway = false;
    await relayAll(relay({}, away));
    expect(await queue.count()).toBe(1);
  });

  it('shares its rows between several relays, and each becomes one job', async () => {
    const owners = Array.from({ length: 500 }, (_, n) => `photo:${n % 50}`);
    const jobs = owners.map((owner) => ({ queue: 'audio', name: 'x', data: {}, opts: { owners: [owner] } }));
    for (let n = 0; n < 3; n += 1) started({ batch: 20 });
    const tickets = await outbox.enqueueAll(pool, jobs);
    await until(async () => (await rows.counts()).pending === 0, 'all were relayed');
    const found = await queue.getJobs(['prioritized'], 0, -1);
    expect(found.map(({ id }) => String(id)).toSorted()).toEqual(tickets.map(({ id }) => id).toSorted());
    expect(kit.errors).toEqual([]);
  });

  it('refuses a request that cannot be right before it writes', async () => {
    const refused = { code: 'INVALID' };
    await expect(enqueue('photo')).rejects.toMatchObject(refused);
    await expect(enqueue('photo:1', { jobId: 'mine' })).rejects.toMatchObject(refused);
    await expect(enqueue('photo:1', { expiresIn: 'soon' })).rejects.toMatchObject(refused);
    await expect(outbox.cancel(pool, 'photo:1', { wait: 'drained' } as never)).rejects.toMatchObject(refused);
    expect(() => relay({ batch: 0 })).toThrow('batch');
    expect(() => new OutboxRelay(new Pool({ max: 1 }), new QueuesTarget([], kit.owners))).toThrow(
      'two connections',
    );
    expect(await rows.counts()).toMatchObject({ pending: 0 });
  });
});
