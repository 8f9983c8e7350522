import type { Queue } from 'bullmq';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { cancelByScript, recordOf } from '../../../../test/support/cancel-door.js';
import { defer, type Deferred } from '../../../../test/support/defer.js';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { Proxy } from '../../../../test/support/proxy.js';
import { until } from '../../../../test/support/until.js';
import { OwnerClosedError, SchedulesFullError } from '../errors.js';
import { digest } from '../keys.js';
import { defineKind } from '../kinds/kind.js';
import { owner } from '../kinds/owner.js';
import { Queues } from '../queues.js';
import { JobReader } from '../read/job.reader.js';
import { Handler, Handles } from '../run/handler.js';
import { runScript } from '../scripts.js';
import { Moorings } from './moorings.js';
import { ScheduleBook } from './schedule.book.js';
import type { ScheduleOptions } from './schedule.js';
import { Schedules } from './schedules.js';
import { Ticker } from './ticker.js';

const report = defineKind({ name: 'report', queue: 'reports', payload: z.object({ of: z.string() }) });
const OWNERS = [owner('site', '1')];
const hourly: ScheduleOptions = { owners: OWNERS, payload: { of: 'today' }, every: '1h' };

let ran: string[] = [];
let held: Deferred<void> | undefined;

@Handles(report)
class ReportHandler extends Handler<typeof report> {
  async handle(_payload: unknown, run: { id: string }): Promise<void> {
    ran.push(run.id);
    await held?.promise;
  }
}

describe('schedules', () => {
  let app: LifecycleApp;
  let schedules: Schedules;
  let ticker: Ticker;
  beforeEach(async () => {
    ran = [];
    held = undefined;
    app = await LifecycleApp.start([report], [ReportHandler]);
    schedules = app.context.get(Schedules);
    ticker = app.context.get(Ticker);
  });
  afterEach(async () => {
    held?.resolve();
    for (const { id } of (await schedules.list()).schedules) await schedules.remove(id);
    await app.stop();
  });

  const book = (): string => `${app.prefix}:{schedules}`;
  const hashOf = (id: string): string => `${book()}:${digest(id)}`;
  const notes = (text = 'site:1'): Promise<Record<string, string>> =>
    app.redis.hgetall(`${recordOf(app.prefix, text)}:schedules`);
  const put = (id: string, more: Partial<ScheduleOptions> = {}): ReturnType<Schedules['put']> =>
    schedules.put(id, report, { ...hourly, ...more });
  const lastOf = async (id: string): Promise<string> => (await schedules.read(id))!.lastJobId!;
  const untilRan = (count: number): Promise<boolean> =>
    until(() => ran.length === count, `${count} have run`);

  /** As if its time had come, so long ago. */
  async function makeDue(id: string, agoMs = 0): Promise<number> {
    const [seconds, micros] = await app.redis.time();
    const due = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000) - agoMs;
    await app.redis.hset(hashOf(id), 'n', due);
    await app.redis.zadd(book(), due, digest(id));
    return due;
  }

  it('have their turn when they are due, and are due again then', async () => {
    const { outcome, schedule } = await put('daily report');
    expect(outcome).toBe('created');
    expect(schedule).toEqual({
      id: 'daily report',
      kind: 'report',
      owners: ['site:1'],
      every: '1h',
      cron: null,
      timezone: null,
      nextAt: expect.any(String),
      lastAt: null,
      lastJobId: null,
      state: 'active',
      error: null,
    });
    expect(await ticker.tick()).toEqual({ due: 0, enqueued: 0, ended: 0, failed: 0 });

    const due = await makeDue('daily report');
    expect(await ticker.tick()).toEqual({ due: 1, enqueued: 1, ended: 0, failed: 0 });
    expect(await ticker.tick()).toMatchObject({ due: 0 });
    await untilRan(1);
    const after = (await schedules.read('daily report'))!;
    expect(after).toMatchObject({ lastJobId: ran[0], nextAt: new Date(due + 3_600_000).toISOString() });
    expect(Date.parse(after.lastAt!)).toBeGreaterThanOrEqual(due);
  });

  it('that missed many turns have one, and go on from now at their step', async () => {
    await put('s', { every: '10s' });
    const due = await makeDue('s', 3_600_000);
    expect(await ticker.tick()).toMatchObject({ due: 1, enqueued: 1 });
    expect(await ticker.tick()).toMatchObject({ due: 0 });
    const { nextAt } = (await schedules.read('s'))!;
    expect((Date.parse(nextAt) - due) % 10_000).toBe(0);
    expect(Date.parse(nextAt) - due - 3_600_000).toBeGreaterThan(0);
    expect(Date.parse(nextAt) - due - 3_600_000).toBeLessThanOrEqual(20_000);
    await untilRan(1);
  });

  it('make one job of a turn, whoever takes it and how often', async () => {
    await put('s');
    const due = await makeDue('s');
    await Promise.all(Array.from({ length: 5 }, () => ticker.tick()));
    await untilRan(1);
    // Again, as after a crash between the job and the turn's end; the job has ended meanwhile.
    await until(
      async () => (await app.context.get(JobReader).read(ran[0]!))?.state === 'completed',
      'it ended',
    );
    await app.redis.hset(hashOf('s'), 'n', due);
    await app.redis.zadd(book(), due, digest('s'));
    expect(await ticker.tick()).toMatchObject({ enqueued: 1 });
    expect(await lastOf('s')).toBe(ran[0]);
    expect(await queueOf().getJobCountByTypes()).toBe(1);
  });

  it('whose job takes long make one that waits, and no more', async () => {
    held = defer();
    await put('s');
    for (let turn = 0; turn < 4; turn += 1) {
      await makeDue('s', 4 - turn);
      await ticker.tick();
      if (turn === 0) await untilRan(1);
    }
    expect(await queueOf().getJobCountByTypes()).toBe(2);
    expect(await lastOf('s')).not.toBe(ran[0]);
    held.resolve();
    await untilRan(2);
  });

  it('make a job each turn, where that is wanted', async () => {
    held = defer();
    await put('s', { dedup: { strategy: 'none' } });
    for (let turn = 0; turn < 3; turn += 1) {
      await makeDue('s', 3 - turn);
      await ticker.tick();
    }
    await untilRan(3);
    expect(await queueOf().getJobCountByTypes()).toBe(3);
  });

  it('end with an owner that is cancelled: there is no next turn', async () => {
    await put('s', { owners: [...OWNERS, owner('user', 'ada')] });
    await cancelByScript(app.redis, app.prefix, 'user:ada');
    await makeDue('s');
    expect(await ticker.tick()).toEqual({ due: 1, enqueued: 0, ended: 1, failed: 0 });
    expect(await schedules.read('s')).toBeUndefined();
    expect([await notes(), await notes('user:ada')]).toEqual([{}, {}]);
    expect(app.facts).toContainEqual({
      event: 'schedule.ended',
      schedule: 's',
      owner: 'site:1',
      why: 'its owner was cancelled',
    });
    expect(await queueOf().getJobCountByTypes()).toBe(0);
  });

  it('that had their turn before a cancel do not start after it', async () => {
    const queue = queueOf();
    await queue.pause();
    await put('s');
    await makeDue('s');
    await ticker.tick();
    const id = await lastOf('s');
    await cancelByScript(app.redis, app.prefix, 'site:1');
    await queue.resume();
    await until(
      async () => (await app.context.get(JobReader).read(id))?.state === 'cancelled',
      'it is refused',
    );
    expect(ran).toEqual([]);
  });

  it('are put again after a cancel, and live', async () => {
    await put('s');
    const due = await makeDue('s');
    await cancelByScript(app.redis, app.prefix, 'site:1');
    expect((await put('s')).outcome).toBe('replaced');
    expect(await app.redis.hget(hashOf('s'), 'n')).not.toBe(String(due));
    await makeDue('s');
    expect(await ticker.tick()).toMatchObject({ enqueued: 1 });
    await untilRan(1);
  });

  it('have a turn of their own, should it be due when one was before the cancel', async () => {
    await put('s');
    const due = await makeDue('s');
    await ticker.tick();
    await untilRan(1);
    await cancelByScript(app.redis, app.prefix, 'site:1');
    await put('s');
    await app.redis.hset(hashOf('s'), 'n', due);
    await app.redis.zadd(book(), due, digest('s'));
    await ticker.tick();
    await untilRan(2);
    expect(await lastOf('s')).toBe(ran[1]);
  });

  it('of an owner are removed up to an epoch, as often as one asks', async () => {
    await put('old');
    await put('both', { owners: [owner('user', 'ada'), ...OWNERS] });
    await put('other', { owners: [owner('site', '2')] });
    const epoch = (await app.redis.hget(recordOf(app.prefix, 'site:1'), 'e'))!;
    await cancelByScript(app.redis, app.prefix, 'site:1');
    await put('new');
    const removed = await schedules.removeOf(owner('site', '1'), epoch);
    expect(removed.toSorted()).toEqual(['both', 'old']);
    expect(await schedules.removeOf(owner('site', '1'), epoch)).toEqual([]);
    const left = (await schedules.list()).schedules.map(({ id }) => id);
    expect(left.toSorted()).toEqual(['new', 'other']);
    expect([Object.keys(await notes()), await notes('user:ada')]).toEqual([[digest('new')], {}]);
  });

  it('are a hundred of an owner at most', async () => {
    for (let i = 0; i < 100; i += 1) await put(`s${i}`);
    await expect(put('one more')).rejects.toThrow(SchedulesFullError);
    expect((await put('s7')).outcome).toBe('replaced');
    const pages: string[] = [];
    for (let cursor: string | null = '0'; cursor !== null;) {
      const page = await schedules.list(cursor);
      pages.push(...page.schedules.map(({ id }) => id));
      cursor = page.cursor;
    }
    expect(new Set(pages).size).toBe(100);
    // Those of an epoch that is over do not count.
    await cancelByScript(app.redis, app.prefix, 'site:1');
    expect((await put('one more')).outcome).toBe('created');
    for (const id of pages) await schedules.remove(id);
  });

  it('keep their owner’s record, which its jobs would let expire', async () => {
    await put('s');
    await makeDue('s');
    await ticker.tick();
    await untilRan(1);
    const record = recordOf(app.prefix, 'site:1');
    await until(
      async () => !(await app.redis.hkeys(record)).some((field) => field.startsWith('j')),
      'it left',
    );
    expect(await app.redis.pttl(record)).toBe(-1);
    // So would the end of a cancel that was before it.
    await app.redis.hset(record, 'jreports-1', '7|1|0|');
    const limits = [1_000, 1_000, 'cancel', 7, 10, 1_000];
    expect(await runScript(app.redis, 'drop', [record], ['', ...limits, 'reports-1', '', '', ''])).toBe(1);
    expect(await app.redis.pttl(record)).toBe(-1);
    await schedules.remove('s');
    expect(await app.redis.pttl(record)).toBeGreaterThan(0);
  });

  it('go on when they were due, when they are put again with the same timing', async () => {
    await put('s');
    const due = await makeDue('s', -60_000);
    const again = await put('s', { payload: { of: 'yesterday' } });
    expect(again).toMatchObject({ outcome: 'replaced', schedule: { nextAt: new Date(due).toISOString() } });
    const other = await put('s', { every: '2h' });
    expect(Date.parse(other.schedule.nextAt)).toBeGreaterThan(due + 3_600_000);
  });

  it('leave the owners that they have no more', async () => {
    await put('s', { owners: [...OWNERS, owner('site', '2')] });
    await put('s', { owners: [owner('site', '2'), owner('site', '3')] });
    const all = await Promise.all(['site:1', 'site:2', 'site:3'].map(notes));
    expect(all.map((one) => Object.keys(one))).toEqual([[], [digest('s')], [digest('s')]]);
  });

  it('stay as they are when a change to them is refused', async () => {
    await put('s');
    await cancelByScript(app.redis, app.prefix, 'site:closed', { close: true });
    const owners = [...OWNERS, owner('site', '2'), owner('site', 'closed')];
    await expect(put('s', { owners, every: '2h' })).rejects.toThrow(OwnerClosedError);
    expect(await schedules.read('s')).toMatchObject({ every: '1h', owners: ['site:1'] });
    expect([Object.keys(await notes()), await notes('site:2')]).toEqual([[digest('s')], {}]);
    await expect(put('new', { owners })).rejects.toThrow(OwnerClosedError);
    expect(await app.redis.exists(hashOf('new'))).toBe(0);
  });

  it('take nothing of a change whose process died in the middle', async () => {
    await put('s');
    const moorings = app.context.get(Moorings);
    for (const [id, text] of [['s', 'site:2'] as const, ['new', 'site:1'] as const]) {
      const name = digest(id);
      await app.redis.hset(hashOf(id), `p${text}`, '7|1', 'b', 7);
      await app.redis.zadd(book(), 1, name);
      await moorings.moor([text], name, '7');
    }
    expect(await ticker.tick()).toMatchObject({ due: 0 });
    expect([Object.keys(await notes()), await notes('site:2')]).toEqual([[digest('s')], {}]);
    expect([await app.redis.zrange(book(), '0', '-1'), await app.redis.exists(hashOf('new'))]).toEqual([
      [digest('s')],
      0,
    ]);
  });

  it('that are changed by many at once are as one of them said, and noted with its owners alone', async () => {
    const ids = ['1', '2', '3', '4'];
    await Promise.all(ids.map((id) => put('s', { owners: [owner('site', id)] })));
    const { owners } = (await schedules.read('s'))!;
    const noted = await Promise.all(ids.map((id) => notes(`site:${id}`)));
    expect(ids.filter((_, i) => Object.keys(noted[i]!).length > 0).map((id) => `site:${id}`)).toEqual(owners);
    await schedules.remove('s');
    expect(await Promise.all(ids.map((id) => notes(`site:${id}`)))).toEqual([{}, {}, {}, {}]);
  });

  it('that are changed while a change is under way are as the one says that ended last', async () => {
    const moorings = app.context.get(Moorings);
    const moor = moorings.moor.bind(moorings);
    let isFirst = true;
    moorings.moor = async (...args) => {
      const epochs = await moor(...args);
      if (isFirst) {
        isFirst = false;
        await put('s', { owners: [owner('site', '2')] });
      }
      return epochs;
    };
    await put('s', { owners: [owner('site', '1')] });
    expect(await schedules.read('s')).toMatchObject({ owners: ['site:1'] });
    expect([Object.keys(await notes()), await notes('site:2')]).toEqual([[digest('s')], {}]);
  });

  it('whose owner is cancelled before they are written live on as what comes after', async () => {
    cancelOnceMoored();
    expect((await put('s')).outcome).toBe('created');
    expect(Object.keys(await notes())).toEqual([digest('s')]);
    await makeDue('s');
    expect(await ticker.tick()).toMatchObject({ enqueued: 1, ended: 0 });
    await untilRan(1);
  });

  it('whose owner is closed before they are written are refused', async () => {
    cancelOnceMoored({ close: true });
    await expect(put('s')).rejects.toThrow(OwnerClosedError);
    expect([await notes(), await app.redis.exists(hashOf('s'))]).toEqual([{}, 0]);
  });

  /** The cancel and its clean-up find the note of the next change, and no schedule yet. */
  function cancelOnceMoored(how = {}): void {
    const moorings = app.context.get(Moorings);
    const moor = moorings.moor.bind(moorings);
    moorings.moor = async (...args) => {
      moorings.moor = moor;
      const epochs = await moor(...args);
      await cancelByScript(app.redis, app.prefix, 'site:1', how);
      expect(await schedules.removeOf(OWNERS[0]!, epochs[0]!)).toEqual([]);
      return epochs;
    };
  }

  it('that are changed during their turn are due when the change says', async () => {
    await put('s');
    await makeDue('s');
    const plans = app.context.get(ScheduleBook);
    const old = (await plans.read(digest('s')))!;
    const { schedule } = await put('s', { every: '2h' });
    await plans.turn(old, old.dueMs + 3_600_000, { jobId: 'reports-1' });
    expect(await schedules.read('s')).toEqual(schedule);
  });

  it('whose jobs are refused for good say so, and go on', async () => {
    await put('s');
    const text = (await app.redis.hget(hashOf('s'), 'd'))!;
    await app.redis.hset(hashOf('s'), 'd', text.replace('"of"', '"off"'));
    await makeDue('s');
    expect(await ticker.tick()).toEqual({ due: 1, enqueued: 0, ended: 0, failed: 1 });
    expect(await schedules.read('s')).toMatchObject({
      state: 'failing',
      error: expect.stringMatching(/payload of report/) as string,
      lastAt: null,
    });
    expect(app.facts.filter(({ event }) => event === 'schedule.failed')).toHaveLength(1);
    expect((await put('s')).schedule).toMatchObject({ state: 'active', error: null });
  });

  it.each(['what is undone of it', 'a turn that has not come yet'])(
    'are looked at later when the store freezes during %s',
    async (what) => {
      const { schedule } = await put('s');
      await app.redis.zadd(book(), 1, digest('s'));
      const isUndone = what === 'what is undone of it';
      if (isUndone) await app.redis.hset(hashOf('s'), 'psite:2', '7|1');

      const proxy = await Proxy.start(inject('storeUrl'));
      const limit = { storeTimeoutMs: 1_500 };
      const other = await LifecycleApp.start(
        [report],
        [ReportHandler],
        undefined,
        proxy.url,
        app.prefix,
        limit,
      );
      const asked = isUndone ? 'look' : Date.parse(schedule.nextAt);
      const isFrozen = proxy.next('hang', new RegExp(`\r\n${asked}\r\n`));
      const ticked = other.context.get(Ticker).tick();
      await isFrozen;
      expect(await ticked).toEqual({ due: 1, enqueued: 0, ended: 0, failed: 1 });
      proxy.cutHanging();
      await other.context.close();
      await other.redis.quit();
      await proxy.stop();
    },
    60_000,
  );

  const queueOf = (): Queue => app.context.get(Queues).get('reports');
});
