import { Injectable } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { until } from '../../../../test/support/until.js';
import { recordOf } from '../../../../test/support/cancel-door.js';
import { FoundJobs } from '../cancel/found.jobs.js';
import { JobExits } from '../cancel/job.exits.js';
import { Canceller } from '../cancel/canceller.js';
import { Enqueuer, type Ticket } from '../enqueue/enqueuer.js';
import type { EnqueueOptions } from '../enqueue/request.js';
import { Flows } from '../flows/flows.js';
import { Removals } from '../history/removals.js';
import { defineKind } from '../kinds/kind.js';
import { owner } from '../kinds/owner.js';
import { Queues } from '../queues.js';
import { JobReader, type JobView } from '../read/job.reader.js';
import { Handler, Handles } from '../run/handler.js';
import type { Run } from '../run/run.js';
import { Deadlines } from './deadlines.js';
import type { SweepOrder, SweepRecord } from './sweep.record.js';
import { SweepBook } from './sweep.book.js';
import { Sweeper } from './sweeper.js';

const offer = defineKind({ name: 'offer', queue: 'offers', payload: z.any(), expiresIn: '30ms' });
/** Its time is over when its delay is, and no worker takes it. */
const later = defineKind({ name: 'later', queue: 'offers', payload: z.any(), expiresIn: '2s' });
const note = defineKind({ name: 'note', queue: 'notes', payload: z.any() });
const busy = defineKind({
  name: 'busy',
  queue: 'busy',
  payload: z.any(),
  attempts: 2,
  backoff: { type: 'fixed', delay: '1h' },
  expiresIn: '2s',
});

const TRIP = owner('trip', '42');
const SITE = owner('site', '1');
const LIFE_MS = 30;

describe('the sweep of what is too late', () => {
  let app: LifecycleApp;
  let release: () => void;
  let begun: string[];

  @Injectable()
  @Handles(busy)
  class BusyHandler extends Handler<typeof busy> {
    async handle(payload: unknown, run: Run): Promise<string> {
      begun.push(run.id);
      if (payload === 'fail') throw new Error('not yet');
      await new Promise<void>((resolve) => (release = resolve));
      return 'done';
    }
  }

  beforeEach(async () => {
    begun = [];
    app = await start();
  });
  afterEach(async () => {
    for (const one of [TRIP, SITE]) await app.context.get(Canceller).cancel(one, { close: false });
    await app.stop();
  });

  const start = (prefix?: string): Promise<LifecycleApp> =>
    LifecycleApp.start(
      [offer, later, note, busy],
      [BusyHandler],
      { kinds: ['busy'] },
      inject('storeUrl'),
      prefix,
    );
  const enqueue = (
    more: Partial<EnqueueOptions> = {},
    kind = offer,
    payload: unknown = {},
  ): Promise<Ticket> => app.context.get(Enqueuer).enqueue(kind, payload, { owners: [TRIP], ...more });
  const view = async (id: string): Promise<JobView> => (await app.context.get(JobReader).read(id))!;
  const sweep = async (order: SweepOrder = {}): Promise<SweepRecord> =>
    (await app.context.get(Sweeper).sweep('expiry', order))!;
  const now = async (): Promise<number> => {
    const [seconds, micros] = await app.redis.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  };
  async function lifeIsOver(ms = LIFE_MS): Promise<void> {
    const began = await now();
    await until(async () => (await now()) > began + ms + 1, 'its time is over');
  }
  async function deadlines(): Promise<string[]> {
    const found: string[] = [];
    for await (const keys of app.redis.scanStream({ match: `${app.prefix}:{due:*}`, count: 1_000 }))
      for (const key of keys as string[]) found.push(...(await app.redis.zrange(key, '0', '-1')));
    return found;
  }
  const counted = async (queue: string): Promise<number> =>
    Number(await app.redis.hget(`${app.prefix}:{queue:${queue}}`, 'n'));

  it('ends a job that waits, and says so wherever somebody looks', async () => {
    const { id } = await enqueue({ owners: [TRIP, SITE] });
    const other = await enqueue({ expiresIn: '1h' });
    await lifeIsOver();
    const record = await sweep();
    expect(record).toMatchObject({ state: 'done', seen: 1, removed: 1, kept: 0, failed: 0 });
    expect(await app.context.get(SweepBook).lines(record.sweepId, 0)).toMatchObject({
      lines: [{ what: id, why: 'did not start in time (it was waiting)' }],
    });
    expect(await view(id)).toMatchObject({
      state: 'expired',
      kind: 'offer',
      owners: ['trip:42', 'site:1'],
      error: 'it did not start in time',
      timeline: [{ event: 'expired', why: 'it did not start in time' }],
    });
    expect(app.facts).toContainEqual({
      event: 'job.skipped',
      queue: 'offers',
      kind: 'offer',
      jobId: id,
      owner: 'trip:42',
      endedAs: 'expired',
      why: 'it did not start in time',
      by: 'sweep',
    });
    for (const one of [TRIP, SITE])
      expect((await app.context.get(Removals).ofOwner(one)).entries).toMatchObject([{ id, why: 'expired' }]);
    expect(await app.redis.hkeys(recordOf(app.prefix, 'site:1'))).not.toContain(`j${id}`);
    expect(await deadlines()).toEqual([expect.stringContaining(other.id)]);
    await until(async () => (await counted('offers')) === 1, 'it is counted out');
    expect((await view(other.id)).state).toBe('waiting');
  });

  it('ends one that is delayed, and one that waits for its slot or its next attempt', async () => {
    const slot = { key: 'driver:7', limit: 1 };
    const holder = await enqueue({ slot }, busy);
    await until(() => begun.includes(holder.id), 'one has the slot');
    const delayed = await enqueue({ delay: '2s' }, later);
    const waiting = await enqueue({ slot }, busy);
    const retried = await enqueue({}, busy, 'fail');
    await until(async () => (await view(retried.id)).state === 'retrying', 'one is to be tried again');
    await until(async () => (await view(waiting.id)).state === 'delayed', 'one stands in line');
    await lifeIsOver(2_000);
    expect(await sweep()).toMatchObject({ removed: 3, kept: 1, failed: 0 });
    for (const { id } of [delayed, waiting, retried]) expect((await view(id)).state).toBe('expired');
    expect(await app.redis.keys(`${app.prefix}:{slot:*}:waiters`)).toEqual([]);
    release();
    await until(async () => (await view(holder.id)).state === 'completed', 'what began in time goes on');
  });

  it('costs nothing where there is nothing to do, and writes nothing down', async () => {
    await enqueue({}, note);
    await enqueue({ expiresIn: '1h' });
    expect(await deadlines()).toHaveLength(1);
    expect(await app.context.get(Sweeper).sweepIfNeeded('expiry')).toBe('nothing to do');
    expect(await app.context.get(SweepBook).newest()).toEqual([]);
  });

  it('forgets the deadline of a job that ended', async () => {
    const { id } = await enqueue({ expiresIn: '1h' }, busy);
    await until(() => begun.includes(id), 'it runs');
    expect(await deadlines()).toHaveLength(1);
    release();
    await until(async () => (await deadlines()).length === 0, 'its deadline has left');
  });

  it('gives a job its time anew with each trigger that is left to it', async () => {
    const dedup = { strategy: 'skip' } as const;
    const { id } = await enqueue({ dedup, expiresIn: '2s' });
    await lifeIsOver(1_500);
    expect(await enqueue({ dedup, expiresIn: '2s' })).toMatchObject({ outcome: 'skipped', id });
    await lifeIsOver(1_000);
    expect(await sweep()).toMatchObject({ seen: 1, removed: 0, kept: 1 });
    await lifeIsOver(1_500);
    expect(await sweep()).toMatchObject({ removed: 1 });
    expect(await enqueue({ dedup, expiresIn: '2s' })).toMatchObject({ outcome: 'created' });
  });

  it.each(['skip', 'coalesce'] as const)(
    'loses no trigger with %s that comes between its look and the end of the job',
    async (strategy) => {
      const dedup = { strategy };
      const { id } = await enqueue({ dedup });
      await lifeIsOver();
      const found = app.context.get(FoundJobs);
      const find = found.find.bind(found);
      let second: Ticket | undefined;
      found.find = async (jobId) => {
        const answer = await find(jobId);
        second ??= await enqueue({ dedup, expiresIn: '1h' });
        return answer;
      };
      expect(await sweep()).toMatchObject({ removed: 0, kept: 1 });
      expect(second).toMatchObject({ id });
      expect((await view(id)).state).toBe('waiting');
      found.find = find;
    },
  );

  it('makes a job of its own for a trigger that comes after the decision', async () => {
    const dedup = { strategy: 'skip' } as const;
    const { id } = await enqueue({ dedup });
    await lifeIsOver();
    const exits = app.context.get(JobExits);
    const takeOut = exits.takeOut.bind(exits);
    let second: Ticket | undefined;
    exits.takeOut = async (job) => {
      second = await enqueue({ dedup, expiresIn: '1h' });
      return takeOut(job);
    };
    expect(await sweep()).toMatchObject({ removed: 1 });
    expect(second).toMatchObject({ outcome: 'created' });
    expect(second!.id).not.toBe(id);
    expect((await view(second!.id)).state).toBe('waiting');
  });

  it('leaves the child of a living parent, and a parent, to the gate', async () => {
    const flow = { kind: note, owners: [TRIP], payload: {}, children: [{ kind: offer, payload: {} }] };
    const top = await app.context.get(Flows).add(flow);
    const parent = await app.context
      .get(Flows)
      .add({ kind: offer, owners: [TRIP], payload: {}, children: [{ kind: note, payload: {} }] });
    await lifeIsOver();
    expect(await sweep()).toMatchObject({ removed: 0, kept: 2 });
    for (const id of [top.id, top.children[0]!.id, parent.id]) expect((await view(id)).state).toBe('waiting');
    expect(await deadlines()).toHaveLength(2);
  });

  it.each(['leaveOthers', 'takeOut', 'leave'] as const)(
    'is finished by the next one when it fails before %s, and counted once',
    async (step) => {
      const { id } = await enqueue({ owners: [TRIP, SITE] });
      await lifeIsOver();
      const exits = app.context.get(JobExits);
      const original = exits[step];
      const fails = (): Promise<never> => Promise.reject(new Error('killed'));
      exits[step] = fails;
      expect(await sweep()).toMatchObject({ removed: 0, failed: 1 });
      exits[step] = original as never;

      const [entry] = await deadlines();
      await app.context.get(Deadlines).settle([[await deadlineOf(entry!), await now()]]);
      await lifeIsOver(1);
      expect(await sweep()).toMatchObject({ removed: 1, failed: 0 });
      expect((await view(id)).state).toBe('expired');
      expect(app.factsOf(id).filter((event) => event === 'job.skipped')).toHaveLength(1);
      expect(await deadlines()).toEqual([]);
      for (const one of [TRIP, SITE])
        expect((await app.context.get(Removals).ofOwner(one)).entries).toHaveLength(1);
    },
  );

  async function deadlineOf(entry: string): Promise<never> {
    const { due } = await app.context.get(Deadlines).page({ shard: 0, skip: 0 }, Number.MAX_SAFE_INTEGER, 9);
    return due.find((one) => one.entry === entry) as never;
  }

  it('says in a dry run what would go, and changes nothing', async () => {
    const ids = await Promise.all(Array.from({ length: 120 }, () => enqueue().then(({ id }) => id)));
    await lifeIsOver();
    expect(await sweep({ dryRun: true })).toMatchObject({ seen: 120, removed: 120 });
    expect(await deadlines()).toHaveLength(120);
    expect(await app.context.get(Queues).get('offers').getJobCountByTypes('prioritized')).toBe(120);
    expect(await sweep()).toMatchObject({ seen: 120, removed: 120 });
    expect((await view(ids[0]!)).state).toBe('expired');
  });
});
