import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { Pool, type PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { migrate, Outbox, OutboxRelay, OutboxRows, QueuesTarget } from '#outbox';
import { CoreKit } from '../support/core-kit.js';
import { Postgres } from '../support/postgres.js';
import { root, TestProcess } from '../support/process.js';
import { seededRandom } from '../support/random.js';
import { until } from '../support/until.js';

/** Where a relay is killed: at a statement to the database, or at a script of the store. */
const IN_DATABASE = ['before:update', 'after:update', 'before:commit', 'after:commit'];
const IN_STORE = ['before:add', 'after:add', 'before:cancel', 'after:cancel', 'after:reopen'];
const SAMPLE = ['before:commit', 'after:add', 'after:cancel'];
const POINTS = process.env['CRASH_POINTS'] === 'all' ? [...IN_DATABASE, ...IN_STORE] : SAMPLE;
const WRITES = Number(process.env['OUTBOX_WRITES'] ?? 120);
const KILLS = Number(process.env['OUTBOX_KILLS'] ?? 4);

/** Servers and processes start slowly beside other tests. */
const STARTS_WITHIN_MS = 120_000;

describe('a relay that is killed', () => {
  let postgres: Postgres;
  let pool: Pool;
  let kit: CoreKit;
  const outbox = new Outbox();
  const processes = new Set<TestProcess>();
  let isOver = false;

  beforeAll(async () => {
    postgres = await Postgres.start();
    pool = new Pool({ connectionString: postgres.url, max: 8 });
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
    await migrate(pool);
  }, STARTS_WITHIN_MS);

  afterAll(async () => {
    isOver = true;
    await pool?.end();
    await postgres?.stop();
  });

  beforeEach(async () => {
    kit = new CoreKit();
    await pool.query('truncate mooring.outbox');
  });

  afterEach(async () => {
    for (const process of processes) process.child.kill('SIGKILL');
    await Promise.all([...processes].map((process) => process.exited));
    processes.clear();
    await kit.queue().obliterate({ force: true });
    for (const what of ['once', 'ended', 'takes-late']) {
      const keys = await kit.redis.keys(`${kit.prefix}~${what}*`);
      if (keys.length > 0) await kit.redis.del(keys);
    }
    await kit.stop();
  });

  function startRelay(point?: string): TestProcess {
    const { PATH, HOME } = process.env;
    const place = { REDIS_URL: inject('storeUrl'), PREFIX: kit.prefix, DATABASE_URL: postgres.url };
    const isInStore = point !== undefined && IN_STORE.includes(point);
    const kill = point === undefined ? {} : isInStore ? { FAIL_POINT: point } : { KILL_AT: point };
    const preload = isInStore ? ['--import', pathToFileURL(`${root}test/support/fail-point.mjs`).href] : [];
    const args = [...preload, `${root}test/support/outbox-relay.mjs`];
    const started = new TestProcess(
      spawn(process.execPath, args, { env: { PATH, HOME, ...place, ...kill }, stdio: 'pipe', cwd: root }),
    );
    processes.add(started);
    return started;
  }

  const enqueue = async (owner: string, client: Pool | PoolClient = pool): Promise<string> => {
    const job = { queue: 'audio', name: 'x', data: {}, opts: { owners: [owner] } };
    return (await outbox.enqueue(client, job)).id;
  };

  /** How often each job was added, as the queue's own events say. */
  async function added(): Promise<Map<string, number>> {
    const events = await kit.redis.xrange(`${kit.prefix}:audio:events`, '-', '+');
    const found = new Map<string, number>();
    for (const [, fields] of events) {
      if (fields[fields.indexOf('event') + 1] !== 'added') continue;
      const id = fields[fields.indexOf('jobId') + 1]!;
      found.set(id, (found.get(id) ?? 0) + 1);
    }
    return found;
  }

  const once = (ids: readonly string[]): Map<string, number> => new Map(ids.toSorted().map((id) => [id, 1]));
  const sorted = (found: Map<string, number>) => new Map([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)));

  async function relayRest(): Promise<void> {
    const relay = new OutboxRelay(pool, new QueuesTarget([kit.queue()], kit.owners));
    while ((await relay.relayOnce()) > 0);
  }

  it.each(POINTS)('%s adds each job once, and cancels and reopens once', async (point) => {
    const early = [await enqueue('photo:1'), await enqueue('photo:2')];
    await outbox.cancel(pool, 'photo:1', { close: false });
    await outbox.cancel(pool, 'photo:2');
    await outbox.reopen(pool, 'photo:2');
    const late = [await enqueue('photo:1'), await enqueue('photo:2'), await enqueue('photo:3')];

    const killed = startRelay(point);
    expect((await killed.exited).signal).toBe('SIGKILL');
    await relayRest();

    expect(sorted(await added())).toEqual(once([...early, ...late]));
    const waiting = await kit.queue().getJobs(['prioritized']);
    expect(waiting.map(({ id }) => id!).toSorted()).toEqual(late.toSorted());
    expect(await new OutboxRows(pool).counts()).toMatchObject({ pending: 0, refused: 0 });
  });

  it('at any moment, beside others and a database that crashes, adds the jobs of committed transactions once', async () => {
    const random = seededRandom(7);
    const rolledBack = new Set<string>();
    const committed = new Set<string>();
    const write = async (): Promise<void> => {
      const client = await pool.connect().catch(() => undefined);
      if (!client) return;
      try {
        await client.query('begin');
        const id = await enqueue(`photo:${Math.floor(random() * 20)}`, client);
        const isKept = random() < 0.7;
        await client.query(isKept ? 'commit' : 'rollback');
        (isKept ? committed : rolledBack).add(id);
        client.release();
      } catch {
        // The database crashed: whether it has committed only the table says.
        client.release(true);
      }
    };
    const writeAll = async (): Promise<void> => {
      while (!isOver && committed.size + rolledBack.size < WRITES) await write();
    };
    const writing = writeAll();
    let relays = [startRelay(), startRelay()];
    for (let n = 0; n < KILLS; n += 1) {
      const before = (await added()).size;
      const enough = before + 1 + Math.floor(random() * 10);
      await until(
        async () => (await added()).size >= Math.min(enough, committed.size),
        'some were relayed',
        STARTS_WITHIN_MS,
      );
      if (n === Math.floor(KILLS / 2)) await postgres.crash();
      relays[0]!.child.kill('SIGKILL');
      relays = [relays[1]!, startRelay()];
    }
    await writing;
    await until(
      async () => (await new OutboxRows(pool).counts()).pending === 0,
      'all were relayed',
      STARTS_WITHIN_MS,
    );

    const { rows } = await pool.query<{ id: string }>('select id from mooring.outbox');
    const stored = rows.map(({ id }) => id);
    expect(sorted(await added())).toEqual(once(stored));
    expect([...committed].filter((id) => !stored.includes(id))).toEqual([]);
    expect(stored.filter((id) => rolledBack.has(id))).toEqual([]);
    expect(rolledBack.size).toBeGreaterThan(0);
  }, 300_000);
});
