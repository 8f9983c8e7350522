import { Injectable } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { recordOf } from '../../../../test/support/cancel-door.js';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { Canceller } from '../cancel/canceller.js';
import { Enqueuer } from '../enqueue/enqueuer.js';
import { OwnerClosedError } from '../errors.js';
import { defineKind } from '../kinds/kind.js';
import { digest } from '../keys.js';
import { formatOwner, owner, type Owner } from '../kinds/owner.js';
import { Handler, Handles } from '../run/handler.js';
import { SweepBook } from './sweep.book.js';
import type { SweepOrder, SweepRecord } from './sweep.record.js';
import { Sweeper } from './sweeper.js';

const work = defineKind({ name: 'work', queue: 'work', payload: z.any() });
const DAY_MS = 86_400_000;

@Injectable()
@Handles(work)
class WorkHandler extends Handler<typeof work> {
  handle(): Promise<void> {
    return Promise.resolve();
  }
}

const OLD = owner('trip', 'old');
const YOUNG = owner('trip', 'young');
const USED = owner('trip', 'used');

describe('an owner that was closed without ever having had a job', () => {
  let app: LifecycleApp;

  beforeEach(async () => {
    app = await LifecycleApp.start([work], [WorkHandler], {}, inject('storeUrl'));
    await enqueue(USED);
    for (const one of [OLD, YOUNG, USED]) await app.context.get(Canceller).cancel(one);
    for (const one of ['trip:old', 'trip:used']) await backdate(one);
  });
  afterEach(async () => {
    await app.context.get(Canceller).cancel(OLD, { close: false });
    await app.redis.unlink(`${app.prefix}:{sweeps}:walks`);
    await app.stop();
  });

  it('is kept by a repair, and named by a forced dry run', async () => {
    expect(await sweep()).toMatchObject({ state: 'done', healed: 0 });
    const { sweepId } = await sweep({ force: true, dryRun: true });
    const { lines } = await app.context.get(SweepBook).lines(sweepId, 0);
    expect(lines).toEqual([{ what: '1 closed owner(s)', why: expect.stringMatching(/more than a day/) }]);
    await expect(enqueue(OLD)).rejects.toThrow(OwnerClosedError);
  });

  it('is forgotten by a forced repair a day later; no other is', async () => {
    expect(await counted()).toEqual(listOf(OLD, YOUNG));
    expect(await sweep({ force: true })).toMatchObject({ state: 'done', healed: 1 });
    expect(await counted()).toEqual(listOf(YOUNG));
    await enqueue(OLD);
    for (const one of [YOUNG, USED]) await expect(enqueue(one)).rejects.toThrow(OwnerClosedError);
    expect(await sweep({ force: true })).toMatchObject({ state: 'done', healed: 0 });
  });

  it('counts once, however often it is cancelled, also when it is reopened, until it is forgotten', async () => {
    const canceller = app.context.get(Canceller);
    for (const one of [OLD, YOUNG]) await canceller.cancel(one);
    expect(await counted()).toEqual(listOf(OLD, YOUNG));
    await backdate('trip:old');
    expect(await sweep({ force: true })).toMatchObject({ healed: 1 });
    expect(await counted()).toEqual(listOf(YOUNG));
    await canceller.reopen(YOUNG);
    expect(await counted()).toEqual(listOf(YOUNG));
    const twoDaysAgo = Date.now() - 2 * DAY_MS;
    await app.redis.hset(recordOf(app.prefix, 'trip:young'), 's', `open ${twoDaysAgo}`);
    expect(await sweep({ force: true })).toMatchObject({ healed: 1 });
    expect(await counted()).toEqual(listOf());
  });

  async function sweep(order: SweepOrder = {}): Promise<SweepRecord> {
    return (await app.context.get(Sweeper).sweep('repair', order))!;
  }

  async function enqueue(one: typeof OLD): Promise<void> {
    await app.context.get(Enqueuer).enqueue(work, 'p', { owners: [one] });
  }

  /** As if it had been closed two days ago. */
  async function backdate(text: string): Promise<void> {
    const record = recordOf(app.prefix, text);
    const epoch = Number(await app.redis.hget(record, 'e'));
    await app.redis.hset(record, 'e', String(epoch - 2 * DAY_MS * 1_000));
  }

  /** The digests of those that count against the limit, and whether what lists them expires. */
  async function counted(): Promise<{ owners: string[]; expires: boolean }> {
    const key = `${app.prefix}:{cancels}:closed`;
    const [owners, leftMs] = await Promise.all([app.redis.zrange(key, 0, '-1'), app.redis.pttl(key)]);
    return { owners: owners.toSorted(), expires: leftMs !== -1 };
  }

  function listOf(...owners: Owner[]): { owners: string[]; expires: boolean } {
    return { owners: owners.map((one) => digest(formatOwner(one))).toSorted(), expires: true };
  }
});
