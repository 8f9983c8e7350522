import '../register.js';
import type { INestApplicationContext } from '@nestjs/common';
import type { MooredQueue } from '#core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until, untilStopped } from '../../../../test/support/core-kit.js';
import { startNestApp } from '../../../../test/support/nest-app.js';
import { JobHistory, MooringModule, Sweeper, type Fact } from '../index.js';

const LATE = { owners: ['trip:1', 'site:2'], expiresIn: 1 };

describe('a sweep of expired jobs', () => {
  let kit: CoreKit;
  let queue: MooredQueue;
  let app: INestApplicationContext;
  let sweeper: Sweeper;
  let facts: Fact[];

  beforeEach(async () => {
    kit = new CoreKit();
    queue = kit.queue();
    facts = [];
    app = await startNestApp({
      imports: [
        MooringModule.forRoot({
          ...kit.place,
          sweeps: { timers: false },
          listeners: [(fact) => facts.push(fact)],
        }),
      ],
    });
    sweeper = app.get(Sweeper);
  });

  afterEach(async () => {
    await app.close();
    await kit.nothingLeft();
    await kit.stop();
  });

  const untilDue = (count = 1): Promise<unknown> =>
    until(async () => {
      const [seconds, micros] = await kit.redis.time();
      const now = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
      return (await kit.redis.zcount(`${kit.prefix}~deadlines`, '-inf', now - 1)) >= count;
    }, 'they are late');

  it('removes late waiting and delayed jobs with their entries, and records their states', async () => {
    const waiting = await queue.add('offer', {}, LATE);
    const delayed = await queue.add('offer', {}, { ...LATE, delay: 60_000 });
    await queue.add('offer', {}, { owners: ['trip:1'], expiresIn: '1h', jobId: 'in-time' });
    await untilDue(2);

    expect(await sweeper.sweepIfNeeded('expiry')).toMatchObject({
      state: 'done',
      seen: 2,
      removed: 2,
      failed: 0,
    });

    const told = facts.filter(({ event }) => event === 'job.expired');
    expect(told).toHaveLength(2);
    expect(told).toEqual(
      expect.arrayContaining(
        [delayed, waiting].map(({ id }) => ({
          event: 'job.expired',
          queue: 'audio',
          kind: 'offer',
          jobId: id,
          owner: 'trip:1',
          why: 'it did not start in time',
          by: 'sweep',
        })),
      ),
    );
    const removed = await app.get(JobHistory).findRemoved('audio', delayed.id!);
    expect(removed).toMatchObject({ state: 'expired', was: 'delayed', owners: ['trip:1', 'site:2'] });
    expect((await kit.owners.history('site:2')).map(({ reason }) => reason)).toEqual(['expired', 'expired']);
    expect(await queue.getJob(waiting.id!)).toBeUndefined();
    expect(await queue.getJobCountByTypes('prioritized', 'delayed', 'wait')).toBe(1);
    expect(await sweeper.sweepIfNeeded('expiry')).toBe('nothing to do');
    await kit.owners.cancel('trip:1', { wait: 'drained', close: false });
  });

  it('does not touch a job that begins in time, and the core removes its deadline', async () => {
    const job = await queue.add('offer', {}, { owners: ['trip:1'], expiresIn: '1s' });
    kit.worker(untilStopped);
    await until(() => job.isActive(), 'it runs');
    expect(await kit.redis.exists(`${kit.prefix}~deadlines`)).toBe(0);
    await kit.owners.cancel('trip:1', { wait: 'drained', close: false });
  });

  it('lets a trigger extend the deadline of a pending job', async () => {
    const dedup = { strategy: 'skip', key: 'k' } as const;
    await queue.add('offer', {}, { ...LATE, dedup });
    await queue.add('offer', {}, { ...LATE, dedup, expiresIn: '1h' });
    expect(await sweeper.sweepIfNeeded('expiry')).toBe('nothing to do');
    await kit.owners.cancel('trip:1', { wait: 'drained', close: false });
  });

  it('fails the parent of a late child', async () => {
    const child = {
      name: 'child',
      queueName: 'audio',
      data: {},
      opts: { ...LATE, failParentOnFailure: true },
    };
    const { job } = await kit
      .flows()
      .add({ name: 'parent', queueName: 'video', data: {}, opts: { owners: ['trip:1'] }, children: [child] });
    await untilDue();
    expect(await sweeper.sweep('expiry')).toMatchObject({ removed: 1 });
    kit.worker(async () => undefined, { queue: 'video' });
    await until(() => job.isFailed(), 'the parent fails');
  });

  it('leaves the turn of a scheduler to its worker, which plans the next one', async () => {
    await queue.upsertJobScheduler('s', { every: 3_600_000 }, { name: 'turn', opts: LATE });
    await untilDue();
    expect(await sweeper.sweep('expiry')).toMatchObject({ seen: 1, removed: 0, kept: 1 });
    expect(await sweeper.sweepIfNeeded('expiry')).toBe('nothing to do');
    expect(await queue.getJobSchedulersCount()).toBe(1);
    await kit.owners.cancel('trip:1', { wait: 'drained', close: false });
  });

  it('lists in a dry run what it would remove, page by page, and changes nothing', async () => {
    await queue.addBulk(Array.from({ length: 250 }, () => ({ name: 'offer', data: {}, opts: LATE })));
    await untilDue(250);
    expect(await sweeper.sweep('expiry', { dryRun: true })).toMatchObject({ seen: 250, removed: 250 });
    expect((await kit.owners.get('trip:1'))?.count).toBe(250);
    expect(await sweeper.sweep('expiry')).toMatchObject({ seen: 250, removed: 250 });
  });
});
