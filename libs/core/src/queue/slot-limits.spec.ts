import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';

const EIGHT_DAYS_MS = 8 * 86_400_000;
const owners = ['trip:9'];

/** Callers share slot keys, but a call changes nothing for other callers or for deduplication. */
describe('the limit of a slot', () => {
  let kit: CoreKit;
  /** The names of the running jobs, and the most that ran at once. */
  let running: string[];
  let most: number;

  beforeEach(() => {
    kit = new CoreKit();
    running = [];
    most = 0;
  });

  afterEach(() => kit.stop());

  const slot = (key: string, limit: number) => ({ owners, slot: { key, limit } });
  const refused = { code: 'SLOT_LIMIT', limit: 1 };

  /** Runs as long as its data says. */
  async function run(job: Job): Promise<void> {
    running.push(job.name);
    most = Math.max(most, running.length);
    await pause(Number(job.data.ms ?? 0));
    running.splice(running.indexOf(job.name), 1);
  }

  const isOver = async () =>
    (await kit.queue().getJobCountByTypes('wait', 'prioritized', 'delayed', 'active')) === 0;

  it('belongs to its key: a job with another limit is refused and not started', async () => {
    const queue = kit.queue();
    kit.worker(run, { concurrency: 20 });
    await queue.addBulk(
      Array.from({ length: 6 }, () => ({ name: 'press', data: { ms: 30 }, opts: slot('press', 1) })),
    );

    await expect(queue.add('stranger', {}, slot('press', 50))).rejects.toMatchObject(refused);

    await until(isOver, 'all have run');
    expect(most).toBe(1);
  });

  it('applies to jobs that are enqueued at the same time, to flows and to schedulers', async () => {
    const queue = kit.queue();
    await queue.enqueue('x', {}, slot('press', 1));
    const [same, other] = await Promise.allSettled([
      queue.enqueue('x', {}, slot('press', 1)),
      queue.enqueue('x', {}, slot('press', 3)),
    ]);
    expect(same).toMatchObject({ status: 'fulfilled', value: { outcome: 'created' } });
    expect(other).toMatchObject({ status: 'rejected', reason: refused });

    const child = { name: 'child', queueName: 'audio', opts: slot('press', 2) };
    const flow = { name: 'top', queueName: 'audio', opts: { owners }, children: [child] };
    await expect(kit.flows().add(flow)).rejects.toMatchObject(refused);
    const template = { name: 'x', opts: slot('press', 3) };
    await expect(queue.upsertJobScheduler('nightly', { every: 60_000 }, template)).rejects.toMatchObject(
      refused,
    );
    expect(await queue.getJobSchedulers()).toEqual([]);
    expect(await queue.count()).toBe(2);
  });

  it('must be the same for all jobs of a flow', async () => {
    const child = (limit: number) => ({ name: 'c', queueName: 'audio', opts: slot('press', limit) });
    const flow = { name: 'top', queueName: 'audio', opts: { owners }, children: [child(1), child(50)] };

    await expect(kit.flows().add(flow)).rejects.toMatchObject(refused);

    expect(await kit.queue().getJobCountByTypes('prioritized', 'waiting-children')).toBe(0);
    expect(await limitKeys()).toEqual([]);
  });

  it('can be set by a scheduler', async () => {
    const queue = kit.queue();
    await queue.upsertJobScheduler('nightly', { every: 60_000 }, { name: 'x', opts: slot('press', 1) });

    await expect(queue.add('x', {}, slot('press', 50))).rejects.toMatchObject(refused);
  });

  it('is not set by a refused job', async () => {
    const queue = kit.queue('audio', { limits: { perQueue: 1 } });
    await queue.add('x', {}, { owners });
    await expect(queue.add('x', {}, slot('press', 1))).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    await kit.owners.cancel('trip:closed');
    const closed = { ...slot('press', 1), owners: ['trip:closed'] };
    await expect(queue.add('x', {}, closed)).rejects.toMatchObject({ code: 'OWNER_CLOSED' });
    const template = { name: 'x', opts: closed };
    await expect(queue.upsertJobScheduler('nightly', { every: 60_000 }, template)).rejects.toMatchObject({
      code: 'OWNER_CLOSED',
    });

    expect(await limitKeys()).toEqual([]);
  });

  it('does not refuse an existing jobId', async () => {
    const queue = kit.queue();
    await queue.enqueue('x', {}, { ...slot('press', 1), jobId: 'once' });

    const again = await queue.enqueue('x', {}, { ...slot('press', 50), jobId: 'once' });

    expect(again).toEqual({ outcome: 'existing', id: 'once' });
  });

  it('is forgotten eight days after the last job of its key was added or fetched', async () => {
    const queue = kit.queue();
    await queue.add('x', {}, slot('press', 1));
    const [key] = await limitKeys();
    expect(await kit.redis.pttl(key!)).toBeGreaterThan(EIGHT_DAYS_MS - 60_000);
    expect(await kit.redis.pttl(key!)).toBeLessThanOrEqual(EIGHT_DAYS_MS);

    await kit.redis.pexpire(key!, 60_000);
    kit.worker(run);
    await until(isOver, 'it has run');
    expect(await kit.redis.pttl(key!)).toBeGreaterThan(60_000);

    await kit.redis.del(key!);
    expect(await queue.enqueue('x', {}, slot('press', 5))).toMatchObject({ outcome: 'created' });
  });

  it('is set again by the first job that a worker fetches, if it was forgotten', async () => {
    const queue = kit.queue();
    await queue.addBulk([1, 2, 3].map(() => ({ name: 'press', data: { ms: 60 }, opts: slot('press', 1) })));
    await kit.redis.del(await limitKeys());
    kit.worker(run, { concurrency: 20 });
    await until(() => running.length > 0, 'one runs');

    await expect(queue.add('stranger', {}, slot('press', 50))).rejects.toMatchObject(refused);

    await until(isOver, 'all have run');
    expect(most).toBe(1);
  });

  it('is never that of a deduplication key: a key with a control character is refused', async () => {
    const queue = kit.queue();
    kit.worker(run, { concurrency: 20 });
    const nightly = { owners: ['site:9'], dedup: { strategy: 'skip', key: 'nightly' } } as const;
    await queue.add('first', { ms: 150 }, nightly);
    await until(() => running.length === 1, 'it runs');
    await queue.add('second', {}, nightly);

    const digest = createHash('sha256').update('\0nightly').digest('base64url').slice(0, 22);
    for (const key of [`site:9\0${digest}`, 'a\nb', 'a\u007f', 'a\u0085b', 'half \ud800']) {
      await expect(queue.add('stranger', {}, slot(key, 50))).rejects.toMatchObject({ code: 'INVALID' });
    }
    // A deduplication key is a slot named <owner>|<digest>. In a caller's key the | is escaped, so this is another slot.
    await queue.add('stranger', {}, slot(`site:9|${digest}`, 50));

    await until(() => running.includes('stranger') || most > 1, 'the stranger runs');
    expect(running).toEqual(['first', 'stranger'].slice(0, running.length));
    await until(isOver, 'all have run');
    expect(await slotAndLineKeys()).toEqual([]);
  });

  it('is never that of a key with another prefix: jobs run while a caller holds slots of that name', async () => {
    const queue = kit.queue();
    kit.worker(run, { concurrency: 20 });
    const held = Array.from({ length: 4 }, () => ({
      name: 'held',
      data: { ms: 300 },
      opts: slot('callers/diagrams:heavy', 4),
    }));
    await queue.addBulk(held);
    await until(() => running.length === 4, 'all slots of the caller are taken');

    await queue.add('picture', {}, slot('diagrams:heavy', 4));

    await until(async () => (await queue.getCompletedCount()) === 1, 'the picture is drawn');
    expect(running).toHaveLength(4);
    await until(isOver, 'all have run');
  });

  it.each([0, 1.5, 10_001, 1e21])('of %s is refused', async (limit) => {
    await expect(kit.queue().add('x', {}, slot('press', limit))).rejects.toMatchObject({ code: 'INVALID' });
  });

  it.each([
    ['coalesced', { dedup: { strategy: 'coalesce', key: 'k' } }],
    ['skipped', { dedup: { strategy: 'skip', key: 'k' }, expiresIn: '5m' }],
  ] as const)('lets a job in line run when a %s trigger names another slot', async (_, more) => {
    const queue = kit.queue();
    kit.worker(run, { concurrency: 20 });
    await queue.add('holder', { ms: 300 }, slot('press', 1));
    await until(() => running.length === 1, 'the slot is taken');
    const mine = { owners: ['site:1'], ...more };
    await queue.add('late', { v: 1 }, { ...slot('press', 1), ...mine });
    await until(async () => (await queue.getDelayedCount()) === 1, 'it stands in line');

    await queue.add('late', { v: 2 }, { ...slot('oven', 1), ...mine });

    await until(async () => (await queue.getCompletedCount()) === 1, 'it runs in the slot it needs now');
    await until(isOver, 'all have run');
    expect(await slotAndLineKeys()).toEqual([]);
  });

  it('does not stay with a job that got a slot and is coalesced into one that needs another', async () => {
    const queue = kit.queue();
    kit.worker(run, { concurrency: 20 });
    await queue.add('holder', { ms: 200 }, slot('press', 1));
    await until(() => running.length === 1, 'the slot is taken');
    const dedup = { strategy: 'coalesce', key: 'k' } as const;
    const mine = { owners: ['site:1'], dedup };
    const { id } = await queue.enqueue('late', { v: 1 }, { ...slot('press', 1), ...mine });
    await until(async () => (await queue.getDelayedCount()) === 1, 'it stands in line');
    await queue.pause();
    await until(async () => (await queue.getDelayedCount()) === 0, 'it is granted the slot');
    expect(await kit.redis.zrange(`${kit.prefix}~slot~press`, 0, '-1')).toEqual([`audio:${id}`]);

    await queue.enqueue('late', { v: 2 }, { ...slot('oven', 1), ...mine });

    expect(await kit.redis.exists(`${kit.prefix}~slot~press`)).toBe(0);
    await queue.resume();
    await until(isOver, 'all have run');
    expect(await slotAndLineKeys()).toEqual([]);
  });

  it.each([
    ['was removed', (id: string) => kit.redis.del(`${kit.prefix}:audio:${id}`)],
    [
      'a plain worker has completed',
      async (id: string) => (await kit.plainQueue().getJob(id))!.moveToCompleted('ok', 'held', false),
    ],
  ])('is not used up by a job that %s, behind ten that run', async (_, end) => {
    const [queue, worker] = [kit.queue(), kit.worker(null, { autorun: false })];
    const held = Array.from({ length: 12 }, () => ({ name: 'held', data: {}, opts: slot('press', 12) }));
    await queue.addBulk(held);
    const runs = [];
    for (const _job of held) runs.push(await worker.getNextJob('held', { block: false }));

    await end(runs.at(-1)!.id!);

    await until(async () => {
      await queue.add('next', {}, slot('press', 12));
      return (await worker.getNextJob('next', { block: false }))?.name === 'next';
    }, 'the slot is free');
  });

  function limitKeys(): Promise<string[]> {
    return kit.redis.keys(`${kit.prefix}~limit~*`);
  }

  async function slotAndLineKeys(): Promise<string[]> {
    const kinds = await Promise.all(
      ['slot', 'line'].map((kind) => kit.redis.keys(`${kit.prefix}~${kind}~*`)),
    );
    return kinds.flat();
  }
});
