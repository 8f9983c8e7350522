import '../register.js';
import type { INestApplicationContext } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defer } from '../../../../test/support/defer.js';
import { CoreKit, until } from '../../../../test/support/core-kit.js';
import { startNestApp } from '../../../../test/support/nest-app.js';
import { MooringModule, type Fact, type MooringOptions } from '../index.js';
import { SweepBook } from './sweep-book.js';
import { Sweeper } from './sweeper.js';
import { Sweep, type Page, type Round } from './sweep.js';

const LOCK_MS = 200;

/** Five pages. `onPage` is called on each of them. */
class CountingSweep extends Sweep {
  readonly kind = 'counting';
  readonly rounds: Round[] = [];
  isNeeded = true;
  onPage: (page: number, round: Round) => unknown = () => undefined;

  override async hasWork(): Promise<boolean> {
    return this.isNeeded;
  }

  async sweepOnce(_limit: number, round: Round): Promise<Page> {
    this.rounds.push(round);
    const page = Number(round.position ?? 1);
    await this.onPage(page, round);
    return {
      seen: 1,
      lines: [{ what: `thing ${page}`, why: 'why' }],
      position: page < 5 ? String(page + 1) : null,
    };
  }
}

interface Janitor {
  readonly app: INestApplicationContext;
  readonly sweep: CountingSweep;
  readonly sweeper: Sweeper;
  readonly book: SweepBook;
}

describe('a sweep', () => {
  let kit: CoreKit;
  const apps = new Set<INestApplicationContext>();
  let facts: Fact[];
  let published: Fact[];

  beforeEach(() => {
    kit = new CoreKit();
    facts = [];
    published = [];
  });

  afterEach(async () => {
    for (const app of apps) await app.close();
    apps.clear();
    await kit.stop();
  });

  async function janitor(
    sweeps: MooringOptions['sweeps'] = { timers: false, lock: LOCK_MS },
  ): Promise<Janitor> {
    const sweep = new CountingSweep();
    const app = await startNestApp({
      imports: [
        MooringModule.forRoot({
          ...kit.place,
          sweeps,
          listeners: [(fact) => facts.push(fact)],
          publisher: { publish: async (fact) => published.push(fact) > 0 },
        }),
      ],
      providers: [{ provide: CountingSweep, useValue: sweep }],
    });
    apps.add(app);
    return { app, sweep, sweeper: app.get(Sweeper), book: app.get(SweepBook) };
  }

  it('goes page by page to its end, keeps a record, and is reported', async () => {
    const { sweeper, book, sweep } = await janitor();

    const record = await sweeper.sweep('counting');

    expect(record).toMatchObject({ sweep: 'counting', state: 'done', seen: 5, removed: 0, dryRun: false });
    expect(sweep.rounds.map(({ position }) => position)).toEqual([undefined, '2', '3', '4', '5']);
    expect(await book.find(record!.sweepId)).toEqual(record);
    expect(await book.newest()).toEqual([record]);
    expect((await book.lines(record!.sweepId, 3)).lines.map(({ what }) => what)).toEqual([
      'thing 4',
      'thing 5',
    ]);
    const told = { event: 'sweep.done', sweepId: record!.sweepId, sweep: 'counting', seen: 5 };
    expect(facts).toMatchObject([told]);
    expect(published).toMatchObject([told]);
    expect(await kit.redis.exists(`${kit.prefix}~outbox`)).toBe(0);
  });

  it('is done by one process at a time, even when a page takes longer than the lock', async () => {
    const [one, other] = [await janitor(), await janitor()];
    const mayEnd = defer();
    one.sweep.onPage = (page) => page === 2 && mayEnd.promise;
    const done = one.sweeper.sweep('counting');
    await until(() => one.sweep.rounds.length === 2, 'it is on its second page');
    const until_ = Date.now() + 2 * LOCK_MS;
    await until(() => Date.now() > until_, 'the lock would have expired');

    expect(await other.sweeper.sweep('counting')).toBeUndefined();
    expect(await other.sweeper.sweepIfNeeded('counting')).toBe('held');

    mayEnd.resolve();
    expect(await done).toMatchObject({ state: 'done', seen: 5 });
    expect(other.sweep.rounds).toEqual([]);
  });

  it('of a process that shuts down is resumed by another process where it stopped', async () => {
    const one = await janitor();
    one.sweep.onPage = async (page, { signal }) => {
      if (page !== 3) return;
      void one.app.close();
      await until(() => signal.aborted, 'it is told to stop');
    };
    const stopped = await one.sweeper.sweep('counting');
    apps.delete(one.app);
    expect(stopped).toMatchObject({ state: 'stopped', seen: 3, position: '4' });

    const other = await janitor();
    await other.sweeper.answerAsked();
    await until(async () => (await other.book.find(stopped!.sweepId))?.state === 'done', 'it is resumed');
    expect(other.sweep.rounds.map(({ position }) => position)).toEqual(['4', '5']);
    expect(await other.book.find(stopped!.sweepId)).toMatchObject({ seen: 5 });
  });

  it('that another process has taken over writes nothing more', async () => {
    const [one, other] = [await janitor(), await janitor()];
    const mayEnd = defer();
    one.sweep.onPage = (page) => page === 2 && mayEnd.promise;
    const overtaken = one.sweeper.sweep('counting');
    await until(() => one.sweep.rounds.length === 2, 'it is on its second page');
    // Simulates a paused process: its lock has expired.
    await kit.redis.hset(`${kit.prefix}~sweeps~lock~counting`, 'until', 0);
    const done = await other.sweeper.sweepIfNeeded('counting');
    expect(done).toMatchObject({ state: 'done', seen: 5 });
    mayEnd.resolve();

    expect(await overtaken).toMatchObject({ state: 'stopped', why: 'Another process took it over.' });
    expect(await one.book.newest()).toEqual([done]);
  });

  it('with a failed page reports why, and begins from the start the next time', async () => {
    const { sweeper, sweep } = await janitor();
    sweep.onPage = (page) => {
      if (page === 2) throw new Error('the disk is full');
    };
    expect(await sweeper.sweep('counting')).toMatchObject({
      state: 'failed',
      why: 'the disk is full',
      seen: 1,
    });
    sweep.onPage = () => undefined;
    expect(await sweeper.sweepIfNeeded('counting', 60_000)).toMatchObject({ state: 'done', seen: 5 });
  });

  it('that is scheduled is skipped when there is nothing to do or one has just finished', async () => {
    const [one, other] = [await janitor(), await janitor()];
    one.sweep.isNeeded = false;
    expect(await one.sweeper.sweepIfNeeded('counting')).toBe('nothing to do');
    const done = await other.sweeper.sweepIfNeeded('counting', 60_000);
    one.sweep.isNeeded = true;

    expect(await one.sweeper.sweepIfNeeded('counting', 60_000)).toEqual(done);
    expect(one.sweep.rounds).toEqual([]);
    expect(await one.sweeper.sweepIfNeeded('counting', 1)).toMatchObject({ state: 'done' });
    expect(one.sweep.rounds).toHaveLength(5);
  });

  it('that is requested is done by a janitor, once', async () => {
    const api = await janitor(false);
    const asked = await api.sweeper.ask('counting', { dryRun: true });
    expect(await api.sweeper.ask('counting', { dryRun: true })).toEqual(asked);
    expect(asked).toMatchObject({ state: 'asked', onRequest: true });

    const { sweep } = await janitor({ lock: LOCK_MS });
    await until(async () => (await api.book.find(asked.sweepId))?.state === 'done', 'it is done');
    expect(sweep.rounds.map(({ dryRun }) => dryRun)).toEqual([true, true, true, true, true]);
    expect(api.sweep.rounds).toEqual([]);
  });

  it.each([
    ['requested', { state: 'asked', onRequest: true }],
    ['forced and interrupted', { state: 'stopped', force: true, position: '3' }],
  ] as const)('that was %s long ago is void', async (_, found) => {
    const { sweeper, book, sweep } = await janitor();
    const record = await sweeper.ask('counting');
    const askedAt = new Date(Date.parse(record.askedAt) - 6 * 60_000).toISOString();
    await book.save({ ...record, ...found, askedAt });

    await sweeper.answerAsked();

    await until(async () => (await book.find(record.sweepId))?.state === 'failed', 'it is given up');
    expect(sweep.rounds).toEqual([]);
  });

  it('that no module provides is done at once, and reports that', async () => {
    const { sweeper } = await janitor();
    expect(await sweeper.sweep('leases')).toMatchObject({
      state: 'done',
      why: 'No module of this process has a sweep of leases.',
    });
  });

  it('keeps the records of the last 200 of its kind', async () => {
    const { sweeper, book } = await janitor();
    const first = await sweeper.sweep('leases');
    for (let i = 0; i < 200; i += 1)
      await book.save({ ...first!, sweepId: `s${i}`, askedAt: new Date().toISOString() });
    expect(await kit.redis.zcard(`${kit.prefix}~sweeps~of~leases`)).toBe(200);
    expect(await kit.redis.zscore(`${kit.prefix}~sweeps~of~leases`, first!.sweepId)).toBeNull();
  });
});
