import { Injectable } from '@nestjs/common';
import type { Job, Queue } from 'bullmq';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { until } from '../../../../test/support/until.js';
import { Canceller } from '../cancel/canceller.js';
import { queueOfJobId } from '../kinds/ids.js';
import { defineKind } from '../kinds/kind.js';
import { owner } from '../kinds/owner.js';
import { Queues } from '../queues.js';
import { Handler, Handles } from '../run/handler.js';
import type { Run } from '../run/run.js';
import { SweepBook } from './sweep.book.js';
import type { SweepOrder, SweepRecord } from './sweep.record.js';
import { Sweeper } from './sweeper.js';

const Letter = z.object({ site: z.string() });
const siteOf = (data: unknown) => {
  const { site } = data as { site?: string | number };
  if (site === 'broken') throw new Error('the data make no sense');
  return site === undefined ? undefined : [owner('site', String(site))];
};
const letter = defineKind({
  name: 'letter',
  queue: 'letters',
  payload: Letter,
  ownersOf: ({ data }) => siteOf(data),
});
const card = defineKind({
  name: 'card',
  queue: 'cards',
  payload: Letter,
  ownersOf: ({ data }) => siteOf(data),
});
const bill = defineKind({ name: 'bill', queue: 'letters', payload: Letter });

/** Jobs that another program adds to our queues, as BullMQ has them. */
describe('a job from elsewhere', () => {
  let app: LifecycleApp;
  let ran: Run[];
  let letters: Queue;
  let cards: Queue;

  @Injectable()
  @Handles(card)
  class CardHandler extends Handler<typeof card> {
    handle(_: unknown, run: Run): Promise<string> {
      ran.push(run);
      return Promise.resolve('sent');
    }
  }

  beforeEach(async () => {
    ran = [];
    app = await LifecycleApp.start(
      [letter, bill, card],
      [CardHandler],
      { kinds: ['card'] },
      inject('storeUrl'),
    );
    letters = app.context.get(Queues).get('letters');
    cards = app.context.get(Queues).get('cards');
  });
  afterEach(async () => {
    await app.context.get(Canceller).cancel(owner('site', '1'), { close: false });
    await app.stop();
  });

  const sweep = async (order: SweepOrder = {}): Promise<SweepRecord> =>
    (await app.context.get(Sweeper).sweep('orphans', order))!;
  const linesOf = async ({ sweepId }: SweepRecord) =>
    (await app.context.get(SweepBook).lines(sweepId, 0)).lines;
  const waiting = (): Promise<string[]> => letters.getRanges(['wait', 'prioritized', 'delayed'], 0, -1);
  const ours = async (): Promise<Job[]> => {
    const ids = (await waiting()).filter((id) => queueOfJobId(id) === 'letters');
    return Promise.all(ids.map(async (id) => (await letters.getJob(id)) as Job));
  };
  const as = ({ data, opts }: Job): object => ({ owners: (data as { o: string[] }).o, body: data.b, opts });

  it('is adopted by the sweep, as far as possible as it was, and once', async () => {
    const data = { site: '1' };
    await letters.add('letter', data);
    await letters.add('letter', data, { delay: 3_600_000, attempts: 4 });
    await letters.add('letter', data, { priority: 3, jobId: 'their-own' });
    expect(await sweep()).toMatchObject({ state: 'done', seen: 3, healed: 3, unknown: 0 });

    const jobs = (await ours()).map(as);
    expect(jobs).toHaveLength(3);
    for (const job of jobs) expect(job).toMatchObject({ owners: ['site:1'], body: data });
    expect(jobs).toContainEqual(
      expect.objectContaining({ opts: expect.objectContaining({ priority: 203 }) }),
    );
    const delayed = (await ours()).find(({ opts }) => opts.delay !== undefined && opts.delay > 0);
    expect(delayed).toMatchObject({ opts: { attempts: 4, backoff: { type: 'kind' } } });
    expect(delayed!.opts.delay).toBeGreaterThan(3_500_000);
    expect(delayed!.opts.delay).toBeLessThanOrEqual(3_600_000);
    expect(await waiting()).toHaveLength(3);
    expect(app.facts).toContainEqual({ event: 'entry.healed', what: 'adopted', name: 'their-own' });

    expect(await sweep()).toMatchObject({ healed: 0, unknown: 0 });
    // From now on it ends with its owner.
    await app.context.get(Canceller).cancel(owner('site', '1'), { close: false });
    expect(await waiting()).toEqual([]);
  });

  it('is one job of ours, also when who adopted it died before it removed it', async () => {
    await letters.add('letter', { site: '1' });
    const remove = letters.remove.bind(letters);
    letters.remove = () => Promise.reject(new Error('killed'));
    expect(await sweep()).toMatchObject({ healed: 0, unknown: 1 });
    expect(await waiting()).toHaveLength(2);
    letters.remove = remove;
    expect(await sweep()).toMatchObject({ healed: 1 });
    expect(await ours()).toHaveLength(1);
    expect(await waiting()).toHaveLength(1);
  });

  it('is told and never removed when nobody says whose it is', async () => {
    await letters.add('bill', { site: '1' });
    await letters.add('stranger', {});
    await letters.add('letter', {});
    const broken = await letters.add('letter', { site: 'broken' });
    const record = await sweep();
    expect(record).toMatchObject({ state: 'done', seen: 4, healed: 0, unknown: 4, failed: 0 });
    expect(await linesOf(record)).toHaveLength(4);
    expect(await linesOf(record)).toContainEqual({ what: broken.id, why: 'the data make no sense' });
    expect(await waiting()).toHaveLength(4);
    await letters.obliterate();
  });

  it('is named in a dry run, and left as it is', async () => {
    const { id } = await letters.add('letter', { site: '1' });
    const record = await sweep({ dryRun: true });
    expect(record).toMatchObject({ healed: 1, unknown: 0 });
    expect(await linesOf(record)).toEqual([{ what: id, why: 'would be adopted: letter' }]);
    expect(await waiting()).toEqual([id]);
    await letters.obliterate();
  });

  it('is adopted by a worker that comes to it first, and completes with the id of ours', async () => {
    const theirs = await cards.add('card', { site: '1' });
    await until(() => ran.length === 1, 'it ran');
    const done = await until(async () => {
      const job = (await cards.getJob(theirs.id!)) as Job;
      return job.finishedOn !== undefined && job;
    }, 'theirs is done');
    expect(done.returnvalue).toEqual({ adoptedAs: ran[0]!.id });
    expect(ran[0]!.owners).toEqual([owner('site', '1')]);
    expect(ran[0]!.id).not.toBe(theirs.id);
  });

  it.each([
    ['whose kind cannot say whose it is', { site: 'broken' }, /the data make no sense/],
    ['of which its kind does not know', {}, /no envelope of ours/],
    ['that is not what its kind takes', { site: 1 }, /could not be adopted/],
  ])('%s ends failed when a worker comes to it', async (_, data, why) => {
    const theirs = await cards.add('card', data);
    const done = await until(async () => {
      const job = (await cards.getJob(theirs.id!)) as Job;
      return job.finishedOn !== undefined && job;
    }, 'theirs is done');
    expect(done.failedReason).toMatch(why);
    expect(done.attemptsMade).toBe(1);
    expect(ran).toEqual([]);
  });

  it('of a closed owner ends cancelled', async () => {
    const closed = owner('site', 'closed');
    await app.context.get(Canceller).cancel(closed, { close: true });
    const theirs = await cards.add('card', { site: 'closed' });
    const done = await until(async () => {
      const job = (await cards.getJob(theirs.id!)) as Job;
      return job.finishedOn !== undefined && job;
    }, 'theirs is done');
    expect(done.failedReason).toMatch(/^\[cancelled\]/);
    expect(ran).toEqual([]);
    await app.context.get(Canceller).reopen(closed);
  });
});
