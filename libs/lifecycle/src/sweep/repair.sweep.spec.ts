import { Injectable } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { recordOf } from '../../../../test/support/cancel-door.js';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { stateOf } from '../../../../test/protocol/sent-twice.js';
import { until } from '../../../../test/support/until.js';
import { Canceller } from '../cancel/canceller.js';
import { Enqueuer } from '../enqueue/enqueuer.js';
import type { EnqueueOptions } from '../enqueue/request.js';
import { Removals } from '../history/removals.js';
import { Keys, PLACE_GRACE_MS } from '../keys.js';
import { newJobId } from '../kinds/ids.js';
import { defineKind, type Kind } from '../kinds/kind.js';
import { owner } from '../kinds/owner.js';
import { Queues } from '../queues.js';
import { Handler, Handles } from '../run/handler.js';
import { runScript } from '../scripts.js';
import { OwnerDirectory } from './owner.directory.js';
import { RepairSweep } from './repair.sweep.js';
import type { Page } from './sweep.js';
import { SweepBook } from './sweep.book.js';
import type { SweepOrder, SweepRecord } from './sweep.record.js';
import { Sweeper } from './sweeper.js';

const work = defineKind({ name: 'work', queue: 'work', payload: z.any() });
const quick = defineKind({ name: 'quick', queue: 'quick', payload: z.any() });
const TRIP = owner('trip', '42');
const SITE = owner('site', '1');

@Injectable()
@Handles(quick)
class QuickHandler extends Handler<typeof quick> {
  handle(): Promise<void> {
    return Promise.resolve();
  }
}

describe('the repair', () => {
  let app: LifecycleApp;
  let record: string;

  beforeEach(async () => {
    app = await LifecycleApp.start([work, quick], [QuickHandler], { kinds: ['quick'] }, inject('storeUrl'));
    record = recordOf(app.prefix, 'trip:42');
  });
  afterEach(async () => {
    for (const one of [TRIP, SITE]) await app.context.get(Canceller).cancel(one, { close: false });
    await app.redis.unlink(`${app.prefix}:{sweeps}:walks`);
    await app.stop();
  });

  const enqueue = async (more: Partial<EnqueueOptions> = {}, kind: Kind = work, payload: unknown = 'p') =>
    (await app.context.get(Enqueuer).enqueue(kind, payload, { owners: [TRIP], ...more })).id;
  const sweep = async (order: SweepOrder = {}): Promise<SweepRecord> =>
    (await app.context.get(Sweeper).sweep('repair', order))!;
  const healed = (): string[] =>
    app.facts.flatMap((fact) => (fact.event === 'entry.healed' ? [`${fact.what} ${fact.name}`] : []));
  const epochOf = async (): Promise<string> => (await app.redis.hget(record, 'e'))!;
  const places = async (key = record): Promise<string[]> =>
    (await app.redis.hkeys(key))
      .filter((field) => field.startsWith('j'))
      .toSorted((a, b) => a.localeCompare(b));

  /** As if it had been wanted so long ago that nobody can be about to do something with it. */
  async function age(jobId: string, key = record): Promise<void> {
    const [epoch, wantedAt, ...rest] = (await app.redis.hget(key, `j${jobId}`))!.split('|');
    await app.redis.hset(key, `j${jobId}`, [epoch, Number(wantedAt) - PLACE_GRACE_MS, ...rest].join('|'));
  }

  /** A producer that died between its place and its job. */
  async function reserve(more: { strategy?: string; key?: string; payload?: string } = {}): Promise<string> {
    const { strategy = '', key = '', payload = '' } = more;
    const jobId = newJobId('work');
    await runScript(app.redis, 'reserve', [record], ['', 'trip:42', jobId, '', strategy, key, payload, '']);
    return jobId;
  }

  it('finds nothing to mend where nothing is wrong', async () => {
    await enqueue({ dedup: { strategy: 'coalesce' } });
    await enqueue({ dedup: { strategy: 'coalesce' } });
    await enqueue({ delay: '1h', expiresIn: '1h', slot: { key: 'driver:7', limit: 1 } });
    const before = await stateOf(app.redis, [record]);
    expect(await sweep()).toMatchObject({ state: 'done', healed: 0, failed: 0, unknown: 0 });
    expect(await stateOf(app.redis, [record])).toBe(before);
  });

  it('takes away a place whose producer died, and leaves one whose producer may live', async () => {
    const [dead, young] = [await reserve({ strategy: 'skip', key: 'k' }), await reserve()];
    await enqueue();
    await age(dead);
    const result = await sweep();
    expect(result).toMatchObject({ state: 'done', healed: 2, failed: 0 });
    expect(healed()).toEqual([`place ${dead}`, 'dedup trip:42']);
    expect(await app.context.get(SweepBook).lines(result.sweepId, 0)).toMatchObject({
      lines: [{ what: dead, why: 'a place without a job' }, { what: 'trip:42' }],
    });
    expect(await places()).not.toContain(`j${dead}`);
    expect(await places()).toContain(`j${young}`);
    await age(young);
  });

  it('adds a job that was to replace another when its producer died, with its payload, as what it replaces', async () => {
    const dedup = { strategy: 'skip', key: 'k' } as const;
    const first = await enqueue({ owners: [TRIP, SITE], dedup, priority: 7, expiresIn: '1h' });
    const field = (await app.redis.hkeys(`${record}:dedup`))[0]!;
    const second = await reserve({ strategy: 'replace', key: field, payload: '"second"' });
    const third = await reserve({ strategy: 'replace', key: field, payload: '"third"' });
    await age(second);
    await age(third);

    await sweep();
    expect(await sweep()).toMatchObject({ failed: 0, unknown: 0 });
    expect(healed()).toEqual([`left ${third}`, `place ${second}`]);
    const job = await app.context.get(Queues).get('work').getJob(third);
    expect(job).toMatchObject({
      name: 'work',
      data: { o: ['trip:42', 'site:1'], b: 'third', d: field, x: 3_600_000 },
      opts: { priority: 207 },
    });
    expect((job!.data as { s: unknown[] }).s.slice(0, 2)).toEqual([`trip:42\0${field}`, 1]);
    // The gate refuses it.
    expect(await places()).toEqual([`j${first}`, `j${third}`].toSorted((a, b) => a.localeCompare(b)));
    expect(await enqueue({ owners: [TRIP, SITE], dedup })).toBe(third);
    expect(await sweep()).toMatchObject({ healed: 0 });
  });

  it('takes out a job that was replaced by one that is there, when nobody came to do that', async () => {
    const dedup = { strategy: 'skip', key: 'k' } as const;
    const first = await enqueue({ dedup, owners: [TRIP, SITE] });
    const field = (await app.redis.hkeys(`${record}:dedup`))[0]!;
    const second = await reserve({ strategy: 'replace', key: field, payload: '"second"' });
    await age(second);
    const queue = app.context.get(Queues).get('work');
    const { remove } = queue;
    queue.remove = () => Promise.reject(new Error('it dies here'));
    await sweep();
    queue.remove = remove;
    expect(await places()).toContain(`j${first}`);

    expect(await sweep({ dryRun: true })).toMatchObject({ healed: 1 });
    expect(await sweep()).toMatchObject({ healed: 1, failed: 0 });
    expect(healed().at(-1)).toBe(`replaced ${first}`);
    expect(await queue.getJob(first)).toBeUndefined();
    const removal = { id: first, why: 'cancelled', reason: 'replaced by newer job', by: second };
    const removals = app.context.get(Removals);
    expect(await removals.find(first)).toMatchObject(removal);
    for (const one of [TRIP, SITE])
      expect((await removals.ofOwner(one)).entries).toEqual([expect.objectContaining(removal)]);
    expect(app.factsOf(first).filter((event) => event === 'job.skipped')).toHaveLength(1);
    expect(await places()).toEqual([`j${second}`]);
    expect(await places(recordOf(app.prefix, 'site:1'))).toEqual([`j${second}`]);
    expect(await enqueue({ owners: [TRIP, SITE], dedup })).toBe(second);
  });

  it('leaves a job of which nobody knows what it was to be to the next trigger', async () => {
    const dedup = { strategy: 'skip', key: 'k' } as const;
    const first = await enqueue({ dedup });
    const field = (await app.redis.hkeys(`${record}:dedup`))[0]!;
    const second = await reserve({ strategy: 'replace', key: field, payload: '"second"' });
    await age(second);
    await app.context.get(Queues).get('work').remove(first);
    expect(await sweep()).toMatchObject({ unknown: 1 });
    expect(await enqueue({ dedup })).toBe(second);
    await age(first);
  });

  it('lets a job leave whose worker died after it had ended', async () => {
    const id = await enqueue({ slot: { key: 'driver:7', limit: 1 } }, quick);
    await until(async () => (await places()).length === 0, 'it has left');
    const epoch = await epochOf();
    await app.redis.hset(record, `j${id}`, `${epoch}|1|1|dead`, 'jlives', `${epoch}|1|1|t`);
    await app.redis.hset(`${record}:done`, id, '1');
    await app.redis.zadd(`${record}:runs`, 1, `${id}|dead`, Date.now() + 60_000, 'lives|t');
    // It has just ended: its worker may be about to say so.
    expect(await sweep()).toMatchObject({ healed: 0 });
    await app.redis.hset(`{${app.prefix}}:quick:${id}`, 'finishedOn', 1);
    expect(await sweep()).toMatchObject({ healed: 1 });
    expect(healed()).toEqual([`ended ${id}`]);
    // Nobody knows a job of that name; but a run holds it.
    expect(await places()).toEqual(['jlives']);
    expect(await app.redis.zrange(`${record}:runs`, '0', '-1')).toEqual(['lives|t']);
    await app.redis.hdel(record, 'jlives');
    await app.redis.unlink(`${record}:runs`);
  });

  it('takes away what stands beside the record of jobs that are gone', async () => {
    const id = await enqueue({ dedup: { strategy: 'coalesce', key: 'k' } });
    await enqueue({ dedup: { strategy: 'coalesce', key: 'k' } });
    const field = (await app.redis.hkeys(`${record}:dedup`))[0]!;
    const epoch = await epochOf();
    await app.redis.hset(`${record}:dedup`, 'gone', `${epoch}|work-gone`, 'old', `1|${id}`);
    await app.redis.hset(`${record}:late`, 'work-gone', '1');
    await app.redis.hset(`${record}:done`, 'work-gone', '1');
    await app.redis.zadd(
      `${record}:runs`,
      1,
      'work-gone|t',
      1,
      `${id}|other`,
      Date.now() + 60_000,
      'work-x|t',
    );
    expect(await sweep()).toMatchObject({ healed: 6, failed: 0 });
    expect(await app.redis.hgetall(`${record}:dedup`)).toEqual({ [field]: `${epoch}|${id}` });
    expect(await app.redis.hkeys(`${record}:late`)).toEqual([id]);
    expect(await app.redis.exists(`${record}:done`)).toBe(0);
    expect(await app.redis.zrange(`${record}:runs`, '0', '-1')).toEqual(['work-x|t']);
    await app.redis.unlink(`${record}:runs`);
  });

  it('lists an owner whose producer died before it was listed', async () => {
    const id = await enqueue();
    const list = async (): Promise<string[]> => {
      const parts = await app.redis.keys(`${app.prefix}:{owners:*}`);
      return (await Promise.all(parts.map((part) => app.redis.zrange(part, '0', '-1')))).flat();
    };
    await until(async () => (await list()).length === 1, 'it is listed');
    await app.redis.unlink(await app.redis.keys(`${app.prefix}:{owners:*}`));
    expect(await sweep()).toMatchObject({ healed: 1 });
    expect(healed()).toEqual(['list trip:42']);
    expect(await list()).toEqual(['trip:42']);
    expect(await sweep()).toMatchObject({ healed: 0 });
    expect(await places()).toEqual([`j${id}`]);
  });

  it('takes jobs that are gone out of the lines for slots, and holds that ran out', async () => {
    const [slot, other] = ['driver:7', 'driver:8'].map((key) => new Keys(app.prefix).slot(key)) as [
      string,
      string,
    ];
    const id = await enqueue({ slot: { key: 'driver:7', limit: 1 } });
    const gone = newJobId('work');
    const now = Date.now();
    await app.redis.zadd(`${slot}:waiters`, 1, gone, now * 1_000 + 60_000_000, newJobId('work'));
    await app.redis.zadd(other, 1, 'dead|t', now + 60_000, 'lives|t');
    await app.redis.zadd(`${slot}:waiters`, 'XX', 1, id);
    expect(await sweep()).toMatchObject({ healed: 2, failed: 0 });
    expect(healed().toSorted((a, b) => a.localeCompare(b))).toEqual(
      [`slot ${other}`, `slot ${gone}`].toSorted(),
    );
    expect(await app.redis.zrange(other, '0', '-1')).toEqual(['lives|t']);
    expect(await app.redis.zrange(`${slot}:waiters`, '0', '-1')).toEqual([id, expect.any(String)]);
    await app.redis.unlink(other, `${slot}:waiters`);
  });

  it('removes ids whose job is gone, wherever they wait', async () => {
    const ids = [await enqueue(), await enqueue({ delay: '1h' })];
    const kept = await enqueue();
    for (const id of ids) await app.redis.unlink(`{${app.prefix}}:work:${id}`);
    expect(await sweep()).toMatchObject({ healed: 2, failed: 0, unknown: 0 });
    expect(healed().toSorted((a, b) => a.localeCompare(b))).toEqual(
      ids.map((id) => `ghost ${id}`).toSorted((a, b) => a.localeCompare(b)),
    );
    const queue = app.context.get(Queues).get('work');
    expect(await queue.getRanges(['prioritized', 'delayed', 'wait'], 0, -1)).toEqual([kept]);
    // Their places are found by the next one.
    for (const id of ids) await age(id);
    expect(await sweep()).toMatchObject({ healed: 2 });
    expect(await places()).toEqual([`j${kept}`]);
  });

  it('removes ids of ended jobs that are gone, and passes over what cannot be read', async () => {
    const ids = await Promise.all([1, 2, 3, 4].map(() => enqueue({}, quick)));
    const queue = app.context.get(Queues).get('quick');
    await until(async () => (await queue.getCompletedCount()) === ids.length, 'all have ended');
    await until(async () => (await places()).length === 0, 'none has a place any more');
    const [gone, failed, poisoned, kept] = ids as [string, string, string, string];
    await app.redis.unlink(...[gone, failed].map((id) => `{${app.prefix}}:quick:${id}`));
    const score = (await app.redis.zscore(`{${app.prefix}}:quick:completed`, failed))!;
    await app.redis.zrem(`{${app.prefix}}:quick:completed`, failed);
    await app.redis.zadd(`{${app.prefix}}:quick:failed`, score, failed);
    await app.redis.hset(`{${app.prefix}}:quick:${poisoned}`, 'data', '{');

    expect(await sweep({ dryRun: true })).toMatchObject({ state: 'done', healed: 2 });
    expect(await queue.getJobCounts('completed', 'failed')).toEqual({ completed: 3, failed: 1 });
    expect(await sweep()).toMatchObject({ state: 'done', healed: 2, failed: 0, unknown: 0 });
    expect(healed().toSorted()).toEqual([`ghost ${gone}`, `ghost ${failed}`].toSorted());
    expect((await queue.getRanges(['completed', 'failed'], 0, -1)).toSorted()).toEqual(
      [poisoned, kept].toSorted(),
    );
    expect(await sweep()).toMatchObject({ healed: 0 });
    await app.redis.hset(`{${app.prefix}}:quick:${poisoned}`, 'data', '{}');
  });

  it('says in a dry run what it would mend, and changes nothing', async () => {
    const dead = await reserve();
    await enqueue();
    await age(dead);
    await app.redis.hset(`${record}:late`, 'work-gone', '1');
    await app.redis.unlink(await app.redis.keys(`${app.prefix}:{owners:*}`));
    const before = await stateOf(app.redis, [record]);
    expect(await sweep({ dryRun: true })).toMatchObject({ state: 'done', healed: 1 });
    await app.redis.zadd(`${app.prefix}:{owners:0}`, 0, 'trip:42');
    expect(await sweep({ dryRun: true })).toMatchObject({ state: 'done', healed: 3 });
    expect(await stateOf(app.redis, [record])).toBe(before);
    expect(healed()).toEqual([]);
    await app.redis.unlink(`${app.prefix}:{owners:0}`);
    expect(await sweep()).toMatchObject({ healed: 3 });
  });

  it('finds in a dry run what is anywhere among the keys, and does not move its walk', async () => {
    const names = Array.from({ length: 20 }, (_, i) => owner('trip', `far-${i}`));
    for (const one of names) await enqueue({ owners: [one] });
    const lists = (): Promise<string[]> => app.redis.keys(`${app.prefix}:{owners:*}`);
    await until(async () => (await lists()).length > 0, 'some are listed');
    await app.context.get(OwnerDirectory).list('trip:far-0');
    const fillers = Array.from({ length: 3_000 }, (_, i) => `${app.prefix}:filler:${i}`);
    await app.redis.mset(Object.fromEntries(fillers.map((key) => [key, ''])));
    await app.redis.unlink(await lists());
    expect(await sweep({ dryRun: true })).toMatchObject({ state: 'done', healed: 20 });
    expect(await app.redis.exists(`${app.prefix}:{sweeps}:walks`)).toBe(0);
    await app.redis.unlink(fillers);
    for (const one of names) await app.context.get(Canceller).cancel(one, { close: false });
  });

  it('passes over a line for a slot that cannot be read, and mends those beside it', async () => {
    const [broken, other, line] = ['driver:1', 'driver:2', 'driver:3'].map((key) =>
      new Keys(app.prefix).slot(key),
    ) as [string, string, string];
    await app.redis.set(broken, 'text');
    await app.redis.set(`${line}:waiters`, 'text');
    await app.redis.zadd(other, 1, 'dead|t');
    const swept = await sweep();
    await app.redis.unlink(broken, `${line}:waiters`);
    expect(swept).toMatchObject({ state: 'done', healed: 1 });
    expect(healed()).toEqual([`slot ${other}`]);
    // A walk over a store that grows meanwhile may come to a key twice.
    expect(swept.failed).toBeGreaterThanOrEqual(2);
    const trouble = app.facts.flatMap((fact) => (fact.event === 'sweep.trouble' ? [fact.what] : []));
    // Of the same trouble the first is told, whichever that is.
    expect(trouble).toHaveLength(1);
    expect([broken, `${line}:waiters`]).toContain(trouble[0]);
  });

  it('takes pages of what an owner has beside its jobs, and of what waits in a queue', async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, () => enqueue()));
    for (const id of ids) await app.redis.unlink(`{${app.prefix}}:work:${id}`);
    const late = Array.from({ length: 1_000 }, (_, i) => [`work-gone-${i}`, '1']);
    await app.redis.hset(`${record}:late`, Object.fromEntries(late));
    const repair = app.context.get(RepairSweep);
    const signal = new AbortController().signal;
    const pages: Page[] = [];
    for (let position: string | null | undefined; position !== null;) {
      const round = { sweepId: 'x', dryRun: false, force: false, position, fence: 1, signal };
      const page = await repair.sweepOnce(10, round);
      pages.push(page);
      ({ position } = page);
    }
    const sum = (what: 'healed' | 'failed'): number =>
      pages.reduce((total, page) => total + (page[what] ?? 0), 0);
    expect([sum('healed'), sum('failed')]).toEqual([1_030, 0]);
    expect(Math.max(...pages.map((page) => page.healed ?? 0))).toBeLessThan(100);
    for (const id of ids) await age(id);
    await sweep();
  });

  it('goes on with an owner of many jobs page by page, and is not held up by one that cannot be read', async () => {
    const ids = await Promise.all(Array.from({ length: 700 }, () => reserve()));
    for (const id of ids) await age(id);
    await enqueue({ owners: [SITE] });
    const broken = recordOf(app.prefix, 'trip:broken');
    await enqueue({ owners: [owner('trip', 'broken')] });
    await until(
      async () => (await app.redis.keys(`${app.prefix}:{owners:*}`)).length === 2,
      'two are listed',
    );
    await app.redis.del(broken);
    await app.redis.set(broken, 'text');
    expect(await sweep()).toMatchObject({ state: 'done', healed: 701, failed: 2 });
    expect(healed()).toContain('list trip:42');
    expect(await places()).toEqual([]);
    await app.redis.del(broken);
    await app.context.get(Canceller).cancel(SITE, { close: false });
    await app.context.get(Queues).get('work').obliterate({ force: true });
  });
});
