import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { defer, type Deferred } from '../../../../test/support/defer.js';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { TestStore } from '../../../../test/support/store.js';
import { until } from '../../../../test/support/until.js';
import { runScript } from '../scripts.js';
import { Sweep, type Page, type Round, type SweepKind } from './sweep.js';
import { SweepBook } from './sweep.book.js';
import type { SweepRecord } from './sweep.record.js';
import { Sweeper } from './sweeper.js';
import { Sweeps } from './sweeps.js';

const LOCK_MS = 2_000;
const PAGES = 5;

/** Five pages of one thing each; a test may hold one of them, or have it fail. */
class Counting extends Sweep {
  readonly kind: SweepKind = 'leases';
  readonly turned: (string | undefined)[] = [];
  readonly rounds: Round[] = [];
  held: Deferred<void> | undefined;
  heldAt = -1;
  failsAt = -1;

  async sweepOnce(_limit: number, round: Round): Promise<Page> {
    const at = Number(round.position ?? 0);
    this.rounds.push(round);
    if (at === this.heldAt) await this.held?.promise;
    if (at === this.failsAt) throw new Error('The page is torn.');
    this.turned.push(round.position);
    const lines = [{ what: `thing ${at}`, why: 'it was there' }];
    return { seen: 1, removed: 1, lines, position: at + 1 === PAGES ? null : String(at + 1) };
  }
}

/** A janitor of its own on the prefix that others share. */
interface Janitor {
  readonly app: LifecycleApp;
  readonly sweeper: Sweeper;
  readonly counting: Counting;
}

describe('a sweep', () => {
  let janitors: Janitor[];
  let one: Janitor;
  let book: SweepBook;
  let ownStore: TestStore | undefined;
  beforeEach(async () => {
    janitors = [];
    one = await addJanitor();
    book = one.app.context.get(SweepBook);
  });
  afterEach(async () => {
    for (const { app, counting } of janitors) {
      counting.held?.resolve();
      await app.context.get(Sweeper).beforeApplicationShutdown();
    }
    await one.app.redis.unlink(`${one.app.prefix}:{sweeps}:at`);
    for (const { app } of janitors) await app.stop();
    await ownStore?.stop();
    ownStore = undefined;
  });

  async function addJanitor(more: object = {}, storeUrl = inject('storeUrl')): Promise<Janitor> {
    const prefix = janitors[0]?.app.prefix;
    const app = await LifecycleApp.start([], [], undefined, storeUrl, prefix, {
      sweeps: { lockMs: LOCK_MS, ...more },
    });
    const counting = new Counting(app.context.get(Sweeps));
    counting.onModuleInit();
    const janitor = { app, counting, sweeper: app.context.get(Sweeper) };
    janitors.push(janitor);
    return janitor;
  }

  it('goes on page by page to its end, and writes down what it did', async () => {
    const record = (await one.sweeper.sweep('leases'))!;
    expect(one.counting.turned).toEqual([undefined, '1', '2', '3', '4']);
    expect(record).toMatchObject({
      state: 'done',
      sweep: 'leases',
      seen: PAGES,
      removed: PAGES,
      worstStallMs: expect.any(Number),
      tookMs: expect.any(Number),
    });
    expect(await book.find(record.sweepId)).toEqual(record);
    expect((await book.lines(record.sweepId, 0)).lines).toHaveLength(PAGES);
    expect(one.app.facts.at(-1)).toMatchObject({ event: 'sweep.done', sweep: 'leases', removed: PAGES });
  });

  it('is done by one process at a time, which says so while it is at it', async () => {
    const two = await addJanitor();
    one.counting.held = defer();
    one.counting.heldAt = 2;
    const first = one.sweeper.sweep('leases');
    await until(() => one.counting.rounds.length === 3, 'the first is at its third page');
    expect(await book.newest()).toMatchObject([{ state: 'running', seen: 2 }]);
    expect(await two.sweeper.sweep('leases')).toBeUndefined();
    expect(await two.sweeper.sweepIfNeeded('leases')).toBe('held');
    one.counting.held.resolve();
    expect(await first).toMatchObject({ state: 'done', seen: PAGES });
  });

  it('by the clock is left to one that was done a while ago, by whomever', async () => {
    const two = await addJanitor();
    const both = [one, two].map(({ sweeper }) => sweeper.sweepIfNeeded('leases', 60_000));
    await Promise.all(both);
    const done = await two.sweeper.sweepIfNeeded('leases', 60_000);
    expect(done).toEqual((await book.newestOf('leases'))[0]);
    expect(done).toMatchObject({ state: 'done' });
    expect(one.counting.rounds.length + two.counting.rounds.length).toBe(PAGES);
    // Who asks for it has it, and so has the clock when that is longer ago.
    expect(await two.sweeper.sweep('leases')).not.toEqual(done);
    const { endedAt } = (await book.newestOf('leases'))[0]!;
    await until(() => Date.now() > Date.parse(endedAt!) + 50, 'it is a while ago');
    await one.sweeper.sweepIfNeeded('leases', 10);
    expect(await book.newestOf('leases')).toHaveLength(3);
  });

  it('by the clock is not left to a dry run, one that failed, or one that stopped', async () => {
    const two = await addJanitor();
    await one.sweeper.sweep('leases', { dryRun: true });
    one.counting.failsAt = 2;
    expect(await one.sweeper.sweepIfNeeded('leases', 60_000)).toMatchObject({ state: 'failed' });
    one.counting.failsAt = -1;
    one.counting.held = defer();
    one.counting.heldAt = 3;
    const before = one.counting.rounds.length;
    const stopped = one.sweeper.sweepIfNeeded('leases', 60_000);
    await until(() => one.counting.rounds.length === before + 4, 'it is at its fourth page');
    const ending = one.sweeper.beforeApplicationShutdown();
    one.counting.held.resolve();
    await ending;
    expect(await stopped).toMatchObject({ state: 'stopped', dryRun: false });
    expect(await two.sweeper.sweepIfNeeded('leases', 60_000)).toMatchObject({ state: 'done', seen: PAGES });
    expect(two.counting.turned).toEqual(['4']);
  });

  it('is kept as long as its page takes', async () => {
    one.counting.held = defer();
    one.counting.heldAt = 0;
    const first = one.sweeper.sweep('leases');
    const began = performance.now();
    await until(() => performance.now() - began > 2 * LOCK_MS, 'twice the time of the lock is over');
    expect(await (await addJanitor()).sweeper.sweep('leases')).toBeUndefined();
    one.counting.held.resolve();
    expect(await first).toMatchObject({ state: 'done' });
  });

  it('is not kept by a process that hangs in a page', async () => {
    const slow = await addJanitor({ longestPageMs: 2 * LOCK_MS });
    slow.counting.held = defer();
    slow.counting.heldAt = 2;
    const hanging = slow.sweeper.sweep('leases');
    await until(() => slow.counting.rounds.length === 3, 'it hangs in its third page');
    const second = await until(() => one.sweeper.sweep('leases'), 'another has it');
    expect(second).toMatchObject({ state: 'done', seen: PAGES });
    expect(one.counting.turned).toEqual(['2', '3', '4']);
    slow.counting.held.resolve();
    expect(await hanging).toMatchObject({ state: 'stopped' });
    expect(await book.find(second.sweepId)).toEqual(second);
  });

  it('is taken over where it was from a process that lost its lock, which stops within a page', async () => {
    const two = await addJanitor();
    one.counting.held = defer();
    one.counting.heldAt = 2;
    const first = one.sweeper.sweep('leases');
    await until(() => one.counting.rounds.length === 3, 'the first is at its third page');
    // As if it had been paused for longer than its lock lives.
    await one.app.redis.del(`${one.app.prefix}:{sweeps}:lock:leases`);
    const second = (await two.sweeper.sweep('leases'))!;
    expect(two.counting.turned).toEqual(['2', '3', '4']);
    expect(second).toMatchObject({ state: 'done', seen: PAGES });
    expect(two.counting.rounds[0]!.fence).toBeGreaterThan(one.counting.rounds[0]!.fence);

    await until(() => one.counting.rounds[0]!.signal.aborted, 'the first one hears of it');
    one.counting.held.resolve();
    expect(await first).toMatchObject({ state: 'stopped' });
    expect(one.counting.rounds).toHaveLength(3);
    // What the overtaken one says does not count.
    expect(await book.find(second.sweepId)).toEqual(second);
  });

  it('that its process cannot keep stops by its own clock', async () => {
    // A pause is one of all who use the store.
    ownStore = await TestStore.start();
    const { app, counting, sweeper } = await addJanitor({}, ownStore.url);
    counting.held = defer();
    counting.heldAt = 1;
    const first = sweeper.sweep('leases');
    await until(() => counting.rounds.length === 2, 'it is at its second page');
    await app.redis.call('CLIENT', 'PAUSE', String(LOCK_MS + 2_000), 'WRITE');
    let isOver = false;
    const over = app.redis.unlink('nothing').then(() => (isOver = true));
    await until(() => counting.rounds[0]!.signal.aborted, 'it gives up');
    expect(isOver).toBe(false);
    await over;
    counting.held.resolve();
    expect(await first).toMatchObject({ state: 'stopped' });
    expect(counting.rounds).toHaveLength(2);
  });

  it('of a process that ends is gone on with by another', async () => {
    one.counting.held = defer();
    one.counting.heldAt = 2;
    const first = one.sweeper.sweep('leases');
    await until(() => one.counting.rounds.length === 3, 'it is at its third page');
    const ending = one.sweeper.beforeApplicationShutdown();
    one.counting.held.resolve();
    expect(await first).toMatchObject({ state: 'stopped', seen: 3, why: 'Its process ended.' });
    await ending;

    const two = await addJanitor();
    expect(await two.sweeper.sweep('leases')).toMatchObject({ state: 'done', seen: PAGES });
    expect(two.counting.turned).toEqual(['3', '4']);
  });

  it('whose page fails says why, and begins anew at the next turn', async () => {
    one.counting.failsAt = 2;
    expect(await one.sweeper.sweep('leases')).toMatchObject({
      state: 'failed',
      why: 'The page is torn.',
      seen: 2,
    });
    one.counting.failsAt = -1;
    expect(await one.sweeper.sweep('leases')).toMatchObject({ state: 'done', seen: PAGES });
  });

  it('that was asked for is done by whoever can, once', async () => {
    const two = await addJanitor();
    const { sweepId } = await one.sweeper.ask('leases', { dryRun: true, force: true });
    expect(await book.find(sweepId)).toMatchObject({ state: 'asked', onRequest: true });
    await Promise.all([one.sweeper.answerAsked(), two.sweeper.answerAsked()]);
    await until(async () => (await book.find(sweepId))?.state === 'done', 'it is done');
    expect(one.counting.rounds.length + two.counting.rounds.length).toBe(PAGES);
    const [round] = [...one.counting.rounds, ...two.counting.rounds];
    expect(round).toMatchObject({ sweepId, dryRun: true, force: true });
    expect(await book.asked()).toEqual([]);
  });

  it('that was asked for and cut short begins anew, and counts nothing twice', async () => {
    const { sweepId } = await one.sweeper.ask('leases', { dryRun: true });
    one.counting.held = defer();
    one.counting.heldAt = 2;
    await one.sweeper.answerAsked();
    await until(() => one.counting.rounds.length === 3, 'it is at its third page');
    const ending = one.sweeper.beforeApplicationShutdown();
    one.counting.held.resolve();
    await ending;
    expect(await book.find(sweepId)).toMatchObject({ state: 'stopped', seen: 3 });

    const two = await addJanitor();
    await two.sweeper.answerAsked();
    await until(async () => (await book.find(sweepId))?.state === 'done', 'it is done');
    expect(await book.find(sweepId)).toMatchObject({ seen: PAGES, removed: PAGES, onRequest: true });
    expect((await book.lines(sweepId, 0)).lines).toHaveLength(PAGES);
  });

  it('that was asked for is not done when nobody came to it for long', async () => {
    const { sweepId } = await one.sweeper.ask('leases', { force: true });
    expect((await one.sweeper.ask('leases', { force: true })).sweepId).toBe(sweepId);
    expect((await one.sweeper.ask('leases', { dryRun: true })).sweepId).not.toBe(sweepId);
    const key = `${one.app.prefix}:{sweeps}:${sweepId}`;
    const record = JSON.parse((await one.app.redis.get(key))!) as SweepRecord;
    const askedAt = new Date(Date.parse(record.askedAt) - 6 * 60_000).toISOString();
    await one.app.redis.set(key, JSON.stringify({ ...record, askedAt }), 'KEEPTTL');
    await one.sweeper.answerAsked();
    expect(await book.find(sweepId)).toMatchObject({
      state: 'failed',
      why: 'No janitor came to it in time. Ask for it again.',
    });
    await until(async () => (await book.asked()).length === 0, 'the other is done');
    expect(one.counting.rounds.every(({ dryRun }) => dryRun)).toBe(true);
  });

  it('that was forced and cut short long ago is not gone on with, by the clock or as what was asked for', async () => {
    for (const isAsked of [false, true]) {
      const janitor = await addJanitor();
      janitor.counting.held = defer();
      janitor.counting.heldAt = 2;
      const order = { force: true };
      const sweepId = isAsked ? (await one.sweeper.ask('leases', order)).sweepId : undefined;
      if (isAsked) await janitor.sweeper.answerAsked();
      const first = isAsked ? undefined : janitor.sweeper.sweep('leases', order);
      await until(() => janitor.counting.rounds.length === 3, 'it is at its third page');
      const ending = janitor.sweeper.beforeApplicationShutdown();
      janitor.counting.held.resolve();
      const cut = sweepId ?? (await first)!.sweepId;
      await ending;
      const key = `${one.app.prefix}:{sweeps}:${cut}`;
      const record = JSON.parse((await one.app.redis.get(key))!) as SweepRecord;
      expect(record).toMatchObject({ state: 'stopped', force: true });
      const askedAt = new Date(Date.parse(record.askedAt) - 6 * 60_000).toISOString();
      await one.app.redis.set(key, JSON.stringify({ ...record, askedAt }), 'KEEPTTL');

      if (isAsked) await one.sweeper.answerAsked();
      else expect(await one.sweeper.sweep('leases')).toMatchObject({ force: false, seen: PAGES });
      await until(async () => (await book.find(cut))?.state === 'failed', 'it is given up');
      expect(await book.find(cut)).toMatchObject({ why: expect.stringMatching(/Ask for it again\.$/) });
      expect(one.counting.rounds.every(({ force }) => !force)).toBe(true);
    }
    expect(await book.asked()).toEqual([]);
  });

  it('is not held up by one of another sort that was asked for', async () => {
    one.counting.held = defer();
    one.counting.heldAt = 0;
    await one.sweeper.ask('leases');
    const other = await one.sweeper.ask('artifacts');
    await one.sweeper.answerAsked();
    await until(async () => (await book.find(other.sweepId))?.state === 'done', 'the other is done');
    one.counting.held.resolve();
    await until(async () => (await book.asked()).length === 0, 'both are done');
  });

  it('that nobody here can do says so', async () => {
    const kind = 'nothing' as SweepKind;
    expect(await one.sweeper.sweep(kind)).toMatchObject({
      state: 'done',
      seen: 0,
      why: 'No workload of this janitor has nothing.',
    });
  });

  it('leaves what another wrote alone when its lock is gone', async () => {
    const keys = [`${one.app.prefix}:{sweeps}`];
    const args = ['', 'leases', 'a token', 1_000, 'sweep-x', '{}', '', 1_000, 10, 10, 1_000, 1];
    expect(await runScript(one.app.redis, 'save', keys, args)).toEqual(['lost']);
    expect(await book.find('sweep-x')).toBeUndefined();
  });

  it('is forgotten when there are too many', async () => {
    const keys = [`${one.app.prefix}:{sweeps}`];
    for (const i of [1, 2, 3]) {
      const args = [i, 'leases', '', 0, `sweep-${i}`, '{}', '', 60_000, 2, 10, 1_000, 1, '"line"'];
      expect(await runScript(one.app.redis, 'save', keys, args)).toEqual(['saved']);
    }
    expect(await one.app.redis.zrange(`${keys[0]}:of:leases`, 0, '-1')).toEqual(['sweep-2', 'sweep-3']);
    expect(await one.app.redis.zrange(`${keys[0]}:untold`, 0, '-1')).toEqual(['sweep-2', 'sweep-3']);
    await one.app.redis.unlink(`${keys[0]}:untold`);
    expect(await one.app.redis.exists(`${keys[0]}:sweep-1`, `${keys[0]}:sweep-1:lines`)).toBe(0);
  });

  it('keeps lines within a bound by bytes for all sweeps of its sort: those of the oldest go first', async () => {
    const keys = [`${one.app.prefix}:{sweeps}`];
    const line = 'x'.repeat(30);
    const save = (at: number, sweep: string, count: number): Promise<unknown> => {
      const args = [at, 'leases', '', 0, sweep, '{}', '-', 60_000, 10, 10, 100, 0];
      return runScript(one.app.redis, 'save', keys, [...args, ...Array.from({ length: count }, () => line)]);
    };
    const kept = (): Promise<number[]> =>
      Promise.all([1, 2, 3].map((i) => one.app.redis.llen(`${keys[0]}:sweep-${i}:lines`)));

    await save(1, 'sweep-1', 2);
    await save(2, 'sweep-2', 1);
    expect(await kept()).toEqual([2, 1, 0]);
    await save(3, 'sweep-3', 1);
    expect(await kept()).toEqual([0, 1, 1]);
    await save(3, 'sweep-3', 5);
    expect(await kept()).toEqual([0, 0, 3]);
    // Their records stay.
    expect(await Promise.all([1, 2, 3].map((i) => book.find(`sweep-${i}`)))).toEqual([{}, {}, {}]);
    expect(await one.app.redis.hgetall(`${keys[0]}:of:leases:bytes`)).toEqual({ 'sweep-3': '90' });
  });
});
