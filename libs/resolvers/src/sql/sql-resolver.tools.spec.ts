import { Journal, OwnerLives, type Resolvers } from '#nestjs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Postgres } from '../../../../test/support/postgres.js';
import { Proxy } from '../../../../test/support/proxy.js';
import { until } from '../../../../test/support/until.js';
import { loadPg } from './load-pg.js';
import { SqlResolver, type SqlResolverOptions } from './sql-resolver.js';

const TIMEOUT_MS = 1_000;
/** How long connections are closed at random moments. */
const RANDOM_MS = 2_000;
const END_OURS = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'mooring'";
const QUERY = 'select id from photos where id = any($1) and deleted_at is null';

describe('a database that resolves owners', () => {
  let postgres: Postgres;
  let resolver: SqlResolver;
  let failed: string | undefined;

  beforeAll(async () => {
    postgres = await Postgres.start();
    await postgres.run(`
      create table photos (id text, deleted_at timestamptz);
      insert into photos values ('a', null), ('b', now()), ('d', null), ('d', null), ('é"{},\\', null);
      create table empty (id text);
      create table numbers (id bigint primary key);
      insert into numbers values (42), (9007199254740993);
      create table many (id text);
      insert into many select 'm' || n from generate_series(1, 200000) n;
    `);
  });
  afterAll(() => postgres?.stop());
  beforeEach(() => {
    failed = undefined;
    resolver = make({});
  });
  afterEach(() => resolver.close());

  it('has a row for each owner that is alive; an owner without one is gone', async () => {
    expect(await ask(['a', 'b', 'c', 'd', 'é"{},\\'])).toEqual({
      a: 'alive',
      b: 'gone',
      c: 'gone',
      d: 'alive',
      'é"{},\\': 'alive',
    });
  });

  it('may have numeric ids, and several rows for an owner', async () => {
    await use({ query: 'select id from numbers where id = any($1);\n' });
    expect(await ask(['42', '43', '9007199254740993'])).toEqual({
      42: 'alive',
      43: 'gone',
      '9007199254740993': 'alive',
    });
    await use({ query: 'select id from photos where id = any($1) -- and more' });
    expect(await ask(['d', 'x'])).toEqual({ d: 'alive', x: 'gone' });
  });

  it('may be asked for non-numeric ids if its query handles them', async () => {
    const query = `select id from numbers
      where id in (select asked::bigint from unnest($1::text[]) asked where asked ~ '^[1-9][0-9]{0,17}$')`;
    await use({ query });
    expect(await ask(['42', '042', "42'; drop table numbers; --", ''])).toEqual({
      42: 'alive',
      '042': 'gone',
      "42'; drop table numbers; --": 'gone',
      '': 'gone',
    });
  });

  it('is not asked for ids that it cannot store', async () => {
    expect(await ask(['a', 'b', 'a\0b'])).toEqual({ a: 'alive', b: 'gone', 'a\0b': 'unknown' });
  });

  it.each([
    ['an unknown table', 'select id from photo where id = any($1)', /relation "photo" does not exist/],
    ['an invalid query', 'selct id from photos where id = any($1)', /syntax error/],
    [
      'ids of another type',
      'select id from numbers where id = any($1)',
      /invalid input syntax for type bigint/,
    ],
    [
      'owners that were not asked for',
      "select 'z' where $1::text[] is not null",
      /an owner that was not asked/,
    ],
    ['every owner', 'select id from many where $1::text[] is not null', /more owners than were asked/],
    ['two columns', 'select id, deleted_at from photos where id = any($1)', /2 columns; one was expected/],
    ['null for an id', 'select null where $1::text[] is not null', /what is no id/],
    ['a value that is not an id', "select '{}'::jsonb where $1::text[] is not null", /what is no id/],
    [
      'too late',
      'select id from photos, pg_sleep(60) where id = any($1)',
      /statement timeout|did not answer|Query read timeout/,
    ],
    ['changed rows', 'delete from photos where id = any($1) returning id', /syntax error/],
  ])('leaves all owners unknown if its query returns %s', async (_, query, why) => {
    await use({ query });
    expect(await ask(['a', 'x'])).toEqual({ a: 'unknown', x: 'unknown' });
    expect(failed).toMatch(why);
    await use({});
    expect(await ask(['a', 'x'])).toEqual({ a: 'alive', x: 'gone' });
  });

  it('is never written to', async () => {
    await postgres.run(`create or replace function wipe() returns text language plpgsql as
      $$ begin delete from photos; return 'a'; end $$`);
    await use({ query: 'select wipe() where $1::text[] is not null' });
    expect(await ask(['a'])).toEqual({ a: 'unknown' });
    expect(failed).toMatch(/read-only transaction/);
  });

  it('reports every owner as gone when its table is empty; a canary prevents that', async () => {
    const query = 'select id from empty where id = any($1)';
    await use({ query });
    expect(await ask(['a'])).toEqual({ a: 'gone' });
    await use({ query, canaries: { alive: 'd', gone: 'c' } });
    expect(await ask(['a'])).toEqual({ a: 'unknown' });
    expect(failed).toMatch(/canary "d" is alive, and it said "gone"/);
    await use({ canaries: { alive: 'd', gone: 'c' } });
    expect(await ask(['a', 'b'])).toEqual({ a: 'alive', b: 'gone' });
  });

  it('cancels a slow query itself', async () => {
    await use({ query: 'select id from photos, pg_sleep(60) where id = any($1)' });
    await ask(['a']);
    const running = "select 1 from pg_stat_activity where state = 'active' and query like '%pg_sleep(60)%'";
    const others = `${running} and pid <> pg_backend_pid()`;
    await until(async () => (await postgres.run(others)).length === 0, 'its query ended');
  });

  it('that hangs leaves all owners unknown, and is trusted when it answers again', async () => {
    const proxy = await Proxy.start(postgres.url);
    await use({ url: through(proxy) });
    try {
      expect(await ask(['a'])).toEqual({ a: 'alive' });
      void proxy.next('hang', /select distinct/);
      expect(await ask(['a'])).toEqual({ a: 'unknown' });
      expect(failed).toMatch(/did not answer within|timeout/);
      await until(async () => (await ask(['a']))['a'] === 'alive', 'it answers again');
    } finally {
      await resolver.close();
      await proxy.stop();
      resolver = make({});
    }
  });

  it('does not send its whole table, whatever the query is', async () => {
    const proxy = await Proxy.start(postgres.url);
    await use({ url: through(proxy), query: 'select id from many where $1::text[] is not null' });
    try {
      await ask(['a']);
      expect(failed).toMatch(/more owners than were asked/);
      expect(proxy.answered).toBeLessThan(10_000);
    } finally {
      await resolver.close();
      await proxy.stop();
      resolver = make({});
    }
  });

  it('that closed its connections is asked over new ones', async () => {
    expect(await ask(['a'])).toEqual({ a: 'alive' });
    await postgres.run(END_OURS);
    await until(async () => (await ask(['a']))['a'] === 'alive', 'it is asked again');
  });

  it.each([
    ['before the first statement', /application_name/, 'unknown'],
    ['after its transaction began', /begin read only/, 'unknown'],
    ['after its question was answered', /select distinct/, 'unknown'],
    ['after its transaction was committed', /commit/, 'alive'],
  ])(
    'that closes a connection %s reports no owner as gone and crashes no process',
    async (_, statement, life) => {
      const proxy = await Proxy.start(postgres.url);
      await use({ url: through(proxy) });
      try {
        const uncaught = await uncaughtIn(async () => {
          const met = proxy.next('gather', statement);
          const answer = ask(['a', 'x']);
          await met;
          const before = proxy.answered;
          await until(() => proxy.answered > before, 'it is answered, which the resolver does not know yet');
          await postgres.run(END_OURS);
          expect(await answer).toEqual({ a: life, x: life === 'alive' ? 'gone' : life });
        });
        expect(uncaught).toEqual([]);
        expect(await ask(['a', 'x'])).toEqual({ a: 'alive', x: 'gone' });
      } finally {
        await resolver.close();
        await proxy.stop();
        resolver = make({});
      }
    },
  );

  it('that closes its connections at random moments reports no owner as gone and crashes no process', async () => {
    const admin = new Client(postgres.url);
    await admin.connect();
    try {
      const uncaught = await uncaughtIn(async () => {
        let isOver = false;
        const askOften = async (): Promise<void> => {
          while (!isOver) {
            const { a, x } = await ask(['a', 'x']);
            expect([a, x]).toEqual(a === 'unknown' ? ['unknown', 'unknown'] : ['alive', 'gone']);
          }
        };
        const asking = Promise.all([askOften(), askOften(), askOften()]);
        const endsAt = performance.now() + RANDOM_MS;
        while (performance.now() < endsAt) await admin.query(END_OURS);
        isOver = true;
        await asking;
      });
      expect(uncaught).toEqual([]);
      await until(async () => (await ask(['a']))['a'] === 'alive', 'it is asked again');
    } finally {
      await admin.end();
    }
  });

  it('that is unreachable leaves all owners unknown', async () => {
    await use({ url: 'postgres://mooring:hush@127.0.0.1:1/postgres' });
    expect(await ask(['a'])).toEqual({ a: 'unknown' });
    expect(failed).toMatch(/ECONNREFUSED/);
    expect(failed).not.toContain('hush');
  });

  it('has no connection left after close', async () => {
    await ask(['a']);
    await resolver.close();
    const ours = "select 1 from pg_stat_activity where application_name = 'mooring'";
    await until(async () => (await postgres.run(ours)).length === 0, 'all are gone');
    resolver = make({});
  });

  function through(proxy: Proxy): string {
    return postgres.url.replace(/:\d+\//, `:${new URL(proxy.url).port}/`);
  }

  function make(options: Partial<SqlResolverOptions>): SqlResolver {
    return new SqlResolver({ url: postgres.url, query: QUERY, timeoutMs: TIMEOUT_MS, ...options });
  }

  async function use(options: Partial<SqlResolverOptions>): Promise<void> {
    await resolver.close();
    resolver = make(options);
  }

  /** Errors that would have crashed the process in the meantime. */
  async function uncaughtIn(run: () => Promise<void>): Promise<unknown[]> {
    const uncaught: unknown[] = [];
    process.setUncaughtExceptionCaptureCallback((error) => uncaught.push(error));
    try {
      await run();
    } finally {
      process.setUncaughtExceptionCaptureCallback(null);
    }
    return uncaught;
  }

  async function ask(ids: string[]): Promise<Record<string, string>> {
    const resolvers = { get: (): unknown => resolver } as unknown as Resolvers;
    const answered = await new OwnerLives(resolvers, new Journal({ connection: {} })).ask('photo', ids);
    failed = answered.failed;
    return Object.fromEntries(answered.lives);
  }
});

describe('the driver of the database', () => {
  it('is reported missing with the command that installs it', () => {
    const elsewhere = createRequire(join(tmpdir(), 'nothing-is-installed-here.js'));
    expect(() => loadPg(elsewhere)).toThrow(
      'it needs the package pg, which is not installed: npm install pg',
    );
  });
});
