import { Injectable } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { recordOf } from '../../../../test/support/cancel-door.js';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { Canceller } from '../cancel/canceller.js';
import { Enqueuer } from '../enqueue/enqueuer.js';
import { OwnerClosedError } from '../errors.js';
import { defineKind } from '../kinds/kind.js';
import { owner } from '../kinds/owner.js';
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
    expect(await closed()).toBe(2);
    expect(await sweep({ force: true })).toMatchObject({ state: 'done', healed: 1 });
    expect(await closed()).toBe(1);
    await enqueue(OLD);
    for (const one of [YOUNG, USED]) await expect(enqueue(one)).rejects.toThrow(OwnerClosedError);
    expect(await sweep({ force: true })).toMatchObject({ state: 'done', healed: 0 });
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

  /** How many count against the limit. */
  async function closed(): Promise<number> {
    const days = await app.redis.hvals(`${app.prefix}:{cancels}:closed`);
    return days.reduce((sum, count) => sum + Number(count), 0);
  }
});
