import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { recordOf } from '../../../../test/support/cancel-door.js';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { until } from '../../../../test/support/until.js';
import { Canceller } from '../cancel/canceller.js';
import { Receipts } from '../cancel/receipts.js';
import { Enqueuer } from '../enqueue/enqueuer.js';
import type { Fact } from '../journal.js';
import { digest, UNTOLD_GRACE_MS } from '../keys.js';
import { defineKind } from '../kinds/kind.js';
import { owner } from '../kinds/owner.js';
import { News } from '../news/news.js';
import type { Teller } from '../news/teller.js';
import { runScript } from '../scripts.js';
import type { SweepKind } from './sweep.js';
import type { SweepOrder, SweepRecord } from './sweep.record.js';
import { Sweeper } from './sweeper.js';

const parked = defineKind({ name: 'parked', queue: 'parked', payload: z.any() });
const TRIP = owner('trip', '42');

/** Tells what it is to tell, or cannot; the same for cancels and for sweeps. */
class TestTeller implements Teller {
  readonly told: string[] = [];
  readonly asked: string[] = [];
  canTell = true;
  hangs = false;

  constructor(
    readonly tellsCancels = true,
    readonly tellsSweeps = tellsCancels,
  ) {}

  record(fact: Fact): Promise<boolean> | undefined {
    const isCancel = fact.event === 'owner.cancelled' && this.tellsCancels && fact.job === undefined;
    // As with the events: not every sweep is news.
    const isSweep = fact.event === 'sweep.done' && this.tellsSweeps && fact.sweep !== 'expiry';
    if (!isCancel && !isSweep) return undefined;
    const name = 'cancelId' in fact ? fact.cancelId : fact.sweep;
    this.asked.push(fact.event);
    if (this.hangs) return new Promise(() => undefined);
    if (this.canTell) this.told.push(`${fact.event} ${name}`);
    return Promise.resolve(this.canTell);
  }
}

describe('news that nobody was told of', () => {
  let app: LifecycleApp;
  let teller: TestTeller;
  const apps: LifecycleApp[] = [];

  beforeEach(async () => {
    teller = new TestTeller();
    app = await start(teller);
  });
  afterEach(async () => {
    const [{ redis, prefix }] = apps as [LifecycleApp];
    await redis.unlink(`${prefix}:{cancels}:untold`, `${prefix}:{sweeps}:untold`, `${prefix}:{sweeps}:walks`);
    for (const one of apps.splice(1)) {
      await one.context.close();
      await one.redis.quit();
    }
    await apps.pop()!.stop();
  });

  async function start(of?: Teller): Promise<LifecycleApp> {
    const more = { ...(of && { teller: of }), worker: undefined } as never;
    const one = await LifecycleApp.start([parked], [], undefined, undefined, apps[0]?.prefix, more);
    apps.push(one);
    return one;
  }

  const cancel = (cancelId: string, by = app): Promise<unknown> =>
    by.context.get(Canceller).cancel(TRIP, { cancelId, close: false, wait: 'drained' });
  const listed = (of: 'cancels' | 'sweeps' = 'cancels'): Promise<string[]> =>
    app.redis.zrange(`${app.prefix}:{${of}}:untold`, '0', '-1');
  const untilTold = (): Promise<unknown> =>
    until(async () => (await listed()).length === 0 && (await listed('sweeps')).length === 0, 'all are told');
  const sweep = async (kind: SweepKind = 'repair', order: SweepOrder = {}, by = app): Promise<SweepRecord> =>
    (await by.context.get(Sweeper).sweep(kind, order))!;

  /** As if it had been done so long ago. */
  async function age(cancelId: string, ms = UNTOLD_GRACE_MS): Promise<void> {
    const receipt = `${recordOf(app.prefix, 'trip:42')}:cancel:${digest(cancelId)}`;
    const doneAt = await until(() => app.redis.hget(receipt, 'd'), 'it is done');
    await app.redis.hset(receipt, 'd', Number(doneAt) - ms);
  }

  /** A process whose store took nothing, or that died. */
  async function loseOne(cancelId: string): Promise<void> {
    teller.canTell = false;
    await cancel(cancelId);
    teller.canTell = true;
  }

  it('is told by the repair once its time has passed, once, and counted', async () => {
    await loseOne('c-1');
    await loseOne('c-2');
    await age('c-1', UNTOLD_GRACE_MS - 10_000);
    await age('c-2');
    expect(await sweep()).toMatchObject({ seen: 1, healed: 1, failed: 0 });
    expect(await listed()).toEqual([digest('c-1')]);
    await age('c-1', 10_000);
    expect(await sweep()).toMatchObject({ healed: 1 });
    expect(await sweep()).toMatchObject({ healed: 0 });
    expect(teller.told.filter((one) => one.startsWith('owner'))).toEqual([
      'owner.cancelled c-2',
      'owner.cancelled c-1',
    ]);
    expect(app.facts.filter(({ event }) => event === 'entry.healed')).toEqual([
      { event: 'entry.healed', what: 'untold', name: 'owner.cancelled c-2' },
      { event: 'entry.healed', what: 'untold', name: 'owner.cancelled c-1' },
    ]);
    await untilTold();
  });

  it('stays listed while it cannot be told, and has failed then', async () => {
    await loseOne('c-1');
    await age('c-1');
    teller.canTell = false;
    expect(await sweep()).toMatchObject({ healed: 0, failed: 1 });
    expect(await listed()).toEqual([digest('c-1')]);
    teller.canTell = true;
    expect(await sweep()).toMatchObject({ healed: 1, failed: 0 });
  });

  it('is left to the next repair by a teller that hangs, after the first', async () => {
    for (const id of ['c-1', 'c-2']) {
      await loseOne(id);
      await age(id);
    }
    teller.asked.length = 0;
    teller.hangs = true;
    expect(await sweep()).toMatchObject({ state: 'done', seen: 1, healed: 0, failed: 1 });
    expect(teller.asked).toEqual(['owner.cancelled', 'sweep.done']);
    teller.hangs = false;
    expect(await sweep()).toMatchObject({ healed: 2 });
  });

  it('is nothing its caller waits for, neither that it is told nor that it leaves the list', async () => {
    const news = app.context.get(News);
    const strike = news.strike.bind(news);
    const struck: string[] = [];
    news.strike = (_of, id) => {
      struck.push(id);
      return new Promise(() => undefined);
    };
    expect(await cancel('c-1')).toMatchObject({ done: true });
    await until(() => struck.length === 1, 'it is told');
    teller.hangs = true;
    expect(await cancel('c-2')).toMatchObject({ done: true });
    expect(teller.asked).toEqual(['owner.cancelled', 'owner.cancelled']);
    expect(await listed()).toEqual([digest('c-1'), digest('c-2')]);
    expect(struck).toEqual([digest('c-1')]);
    news.strike = strike;
  });

  it('is said by a dry run, and not told', async () => {
    await loseOne('c-1');
    await age('c-1');
    expect(await sweep('repair', { dryRun: true })).toMatchObject({ healed: 1 });
    expect(teller.told).not.toContain('owner.cancelled c-1');
    expect(await sweep()).toMatchObject({ healed: 1 });
  });

  it('is found behind what stays listed, more than a page of it', async () => {
    teller.canTell = false;
    for (let i = 0; i < 130; i += 1) await cancel(`c-${i}`);
    teller.canTell = true;
    for (const id of ['c-0', 'c-70', 'c-129']) await age(id);
    expect(await sweep()).toMatchObject({ healed: 3 });
    expect(await listed()).toHaveLength(127);
  });

  it('is the end of a sweep as well', async () => {
    teller.canTell = false;
    const { sweepId } = await sweep('orphans');
    teller.canTell = true;
    expect(await listed('sweeps')).toEqual([sweepId]);
    expect(await sweep()).toMatchObject({ healed: 0 });
    const key = `${app.prefix}:{sweeps}:${sweepId}`;
    const record = JSON.parse((await app.redis.get(key))!) as SweepRecord;
    const endedAt = new Date(Date.parse(record.endedAt!) - UNTOLD_GRACE_MS).toISOString();
    await app.redis.set(key, JSON.stringify({ ...record, endedAt }), 'PX', 60_000);
    expect(await sweep()).toMatchObject({ healed: 1 });
    expect(teller.told).toContain('sweep.done orphans');
    await untilTold();
  });

  it('is not what was told, nor a sweep that is no news, nor the end of one job, nor what did not come to be', async () => {
    await cancel('c-1');
    await sweep('expiry', { force: true });
    const { id } = await app.context.get(Enqueuer).enqueue(parked, {}, { owners: [TRIP] });
    teller.canTell = false;
    await app.context.get(Canceller).cancelJob(id);
    await app.context.get(Canceller).reopen(TRIP);
    await app.context.get(Canceller).cancel(TRIP, { cancelId: 'c-2', occurredAtMs: 1 });
    await untilTold();
    expect(await app.redis.exists(`${app.prefix}:{cancels}:${digest('c-2')}`)).toBe(0);
    // Asked again it is the same, and was told.
    await cancel('c-1');
    expect(await listed()).toEqual([]);
    expect(teller.told).toEqual(['owner.cancelled c-1']);
  });

  it('of a cancel that its caller died before does not stay, and is listed when it is asked for again', async () => {
    const cancels = `${app.prefix}:{cancels}`;
    const target = JSON.stringify({ cancelId: 'c-1', owner: 'trip:42' });
    const intend = ['', 'intend', digest('c-1'), 60_000, target, 60_000, 10];
    await runScript(app.redis, 'intent', [cancels], intend);
    expect(await sweep()).toMatchObject({ healed: 0 });
    expect(await listed()).toEqual([digest('c-1')]);
    await app.redis.zadd(cancels, 1, digest('c-1'));
    await until(async () => {
      await app.redis.zadd(cancels, 'XX', 1, digest('c-1'));
      // As if it had been meant minutes ago.
      await app.redis.pexpire(`${cancels}:${digest('c-1')}`, 60_000);
      return (await listed()).length === 0;
    }, 'it is forgotten');
    await loseOne('c-1');
    expect(await listed()).toEqual([digest('c-1')]);
  });

  it('of a cancel that comes to be while it is looked at stays', async () => {
    const target = JSON.stringify({ cancelId: 'c-1', owner: 'trip:42' });
    const intend = ['', 'intend', digest('c-1'), 60_000, target, 60_000, 10];
    await runScript(app.redis, 'intent', [`${app.prefix}:{cancels}`], intend);
    const receipts = app.context.get(Receipts);
    const read = receipts.read.bind(receipts);
    receipts.read = async (one) => {
      receipts.read = read;
      const receipt = await read(one);
      await loseOne('c-1');
      await until(
        async () => (await app.redis.zscore(`${app.prefix}:{cancels}`, digest('c-1'))) === null,
        'it is cleaned up',
      );
      return receipt;
    };
    expect(await sweep()).toMatchObject({ healed: 0 });
    expect(await listed()).toEqual([digest('c-1')]);
    await age('c-1');
    expect(await sweep()).toMatchObject({ healed: 1 });
  });

  it('is forgotten with its receipt, and is never more than so much', async () => {
    await loseOne('c-1');
    await app.redis.unlink(`${recordOf(app.prefix, 'trip:42')}:cancel:${digest('c-1')}`);
    expect(await sweep()).toMatchObject({ seen: 0, healed: 0 });
    expect(await listed()).toEqual([]);
    const cancels = `${app.prefix}:{cancels}`;
    for (const i of [1, 2, 3, 4])
      await runScript(app.redis, 'intent', [cancels], [i, 'intend', `x${i}`, 0, '{}', 1_000, 3]);
    expect(await listed()).toEqual(['x2', 'x3', 'x4']);
    expect(await app.redis.pttl(`${cancels}:untold`)).toBeGreaterThan(0);
    for (const i of [1, 2, 3, 4]) await runScript(app.redis, 'forget', [cancels], [`x${i}`, 1_000, 0]);
  });

  it('that cannot be read is told of as trouble, and the others are told', async () => {
    await loseOne('c-1');
    await loseOne('c-2');
    for (const id of ['c-1', 'c-2']) await age(id);
    await app.redis.set(`${app.prefix}:{cancels}:${digest('c-1')}`, 'no JSON', 'PX', 60_000);
    expect(await sweep()).toMatchObject({ healed: 1, failed: 1 });
    expect(await listed()).toEqual([digest('c-1')]);
  });

  it('is nothing where nobody is told', async () => {
    const silent = await start();
    await cancel('c-1', silent);
    await sweep('orphans', {}, silent);
    const off = await start(new TestTeller(false));
    await cancel('c-2', off);
    await sweep('repair', {}, off);
    expect([await listed(), await listed('sweeps')]).toEqual([[], []]);
  });

  it('is left by a janitor that tells of nothing to one that does', async () => {
    await loseOne('c-1');
    await age('c-1');
    const off = await start(new TestTeller(false));
    expect(await sweep('repair', {}, off)).toMatchObject({ seen: 0, healed: 0 });
    const owners = await start(new TestTeller(true, false));
    expect(await sweep('repair', {}, owners)).toMatchObject({ healed: 1 });
    expect([await listed(), await listed('sweeps')]).toEqual([[], []]);
  });
});
