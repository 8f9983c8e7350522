import { Worker, type Job } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';
import type { MooredQueue, MooredQueueOptions } from './moored-queue.js';
import type { MooredWorker } from '../worker/moored-worker.js';

describe('a queue with fair turns', () => {
  let kit: CoreKit;
  let worker: MooredWorker;

  beforeEach(() => {
    kit = new CoreKit();
    worker = kit.worker(null, { autorun: false });
  });

  afterEach(async () => {
    await kit.nothingLeft();
    await kit.stop();
  });

  const fairQueue = (fair: MooredQueueOptions['fair'] = true): MooredQueue => kit.queue('audio', { fair });

  /** Adds jobs named `a1`, `a2`, … for the owner `user:a`. */
  const add = async (queue: MooredQueue, who: string, count: number, opts = {}): Promise<Job[]> => {
    const jobs = Array.from({ length: count }, (_, n) => ({
      name: `${who}${n + 1}`,
      data: {},
      opts: { owners: [`user:${who}`], ...opts },
    }));
    return queue.addBulk(jobs);
  };

  const fetch = (): Promise<Job> => worker.getNextJob('token', { block: false });

  /** The names of the next jobs, each of which completes. */
  async function next(count: number): Promise<string[]> {
    const names: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const job = await fetch();
      if (!job) break;
      names.push(job.name);
      await job.moveToCompleted('', 'token', false);
    }
    return names;
  }

  it('runs a job of a quiet owner behind at most one of each other owner, however many they have', async () => {
    const queue = fairQueue();
    await add(queue, 'noisy', 300);
    await next(100);

    await add(queue, 'quiet', 2);

    expect(await next(5)).toEqual(['noisy101', 'quiet1', 'noisy102', 'quiet2', 'noisy103']);
    await next(300);
  });

  it('gives every owner one turn a round, in the order in which they came', async () => {
    const queue = fairQueue();
    await add(queue, 'a', 3);
    await add(queue, 'b', 2);
    await add(queue, 'c', 1);

    expect(await next(9)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('gives an owner as many turns a round as its weight', async () => {
    const queue = fairQueue({ weights: { 'user:big': 3, user: 1 } });
    await add(queue, 'small', 3);
    await add(queue, 'big', 6);

    const names = await next(9);

    expect(names.slice(0, 4).filter((name) => name.startsWith('big'))).toHaveLength(3);
    expect(names.slice(4, 8).filter((name) => name.startsWith('big'))).toHaveLength(3);
    expect(names.filter((name) => name.startsWith('big'))).toEqual([
      'big1',
      'big2',
      'big3',
      'big4',
      'big5',
      'big6',
    ]);
  });

  it('lets owners of a named type take turns', async () => {
    const queue = fairQueue({ by: 'customer' });
    await add(queue, 'a', 2, { owners: ['trip:1', 'customer:a'] });
    await add(queue, 'b', 2, { owners: ['trip:2', 'customer:a'] });
    await add(queue, 'c', 1, { owners: ['trip:3', 'customer:c'] });

    expect(await next(5)).toEqual(['a1', 'c1', 'a2', 'b1', 'b2']);
  });

  it('keeps priorities: turns are taken among jobs of the same one', async () => {
    const queue = fairQueue();
    await add(queue, 'a', 2, { priority: 5 });
    await add(queue, 'b', 1, { priority: 5 });
    await add(queue, 'c', 2, { priority: 2 });

    expect(await queue.getCountsPerPriority([2, 5])).toEqual({ 2: 2, 5: 3 });
    expect(await next(5)).toEqual(['c1', 'c2', 'a1', 'b1', 'a2']);
  });

  it('gives turns to jobs whose delay is over, and to those that are tried again', async () => {
    const queue = fairQueue();
    await add(queue, 'noisy', 20, { delay: 5 });
    await add(queue, 'quiet', 1, { delay: 6 });
    await add(queue, 'late', 1);
    await until(
      async () => (await queue.getDelayed()).every(({ timestamp }) => Date.now() > timestamp + 50),
      'all are due',
    );
    expect(await next(1)).toEqual(['late1']);

    expect((await next(3)).toSorted()).toEqual(['noisy1', 'noisy2', 'quiet1']);

    const job = await fetch();
    await job.moveToFailed(new Error('once'), 'token', false);
    await add(queue, 'other', 1);
    await job.retry();
    const names = await next(30);
    expect(names.slice(0, 2)).toContain('other1');
    expect(names.indexOf(job.name)).toBeGreaterThan(10);
  });

  it('puts a job that is tried at once behind the turns of the others', async () => {
    const queue = fairQueue();
    await add(queue, 'noisy', 3, { attempts: 2 });
    await add(queue, 'quiet', 1);
    const job = await fetch();
    await job.moveToFailed(new Error('once'), 'token', false);

    expect(await next(5)).toEqual(['quiet1', 'noisy2', 'noisy3', 'noisy1']);
  });

  it('forgets the turns of jobs that were cancelled or removed', async () => {
    const queue = fairQueue();
    await add(queue, 'a', 100);
    await add(queue, 'b', 6);
    await kit.owners.cancel('user:a', { close: false });

    await add(queue, 'a', 1);

    expect((await next(3)).slice(0, 3)).toContain('a1');
    await next(10);
  });

  it('keeps the turn of a job that is replaced', async () => {
    const queue = fairQueue();
    await add(queue, 'a', 1, { dedup: { strategy: 'replace', key: 'k' } });
    await add(queue, 'b', 3);
    for (let n = 0; n < 5; n += 1)
      await queue.add('new', {}, { owners: ['user:a'], dedup: { strategy: 'replace', key: 'k' } });

    expect(await next(1)).toEqual(['new']);
    await next(5);
  });

  it('runs jobs of the queue that take no turns beside those that do', async () => {
    const queue = fairQueue();
    await add(queue, 'noisy', 50);
    await add(queue, 'plain', 2, { fair: false });

    const names = await next(52);

    expect(names).toHaveLength(52);
    expect(names.indexOf('plain1')).toBeLessThan(4);
  });

  it('is listed, changed and worked off by plain BullMQ', async () => {
    const queue = fairQueue();
    await add(queue, 'noisy', 4);
    await add(queue, 'quiet', 1);
    const plain = kit.plainQueue();
    const listed = await plain.getJobs(['prioritized'], 0, -1, true);
    expect(listed.map(({ name }) => name)).toEqual(['noisy1', 'quiet1', 'noisy2', 'noisy3', 'noisy4']);
    await listed[4]!.changePriority({ priority: 1 });
    await listed[3]!.remove();

    const ran: string[] = [];
    const plainWorker = new Worker('audio', async ({ name }) => ran.push(name), {
      ...kit.place,
      concurrency: 1,
    });
    try {
      await until(() => ran.length === 4, 'all have run');
    } finally {
      await plainWorker.close();
    }

    expect(ran).toContain('noisy4');
    expect(ran.slice(0, 3)).toContain('quiet1');
    // A plain worker leaves the index as it was.
    for (const owner of ['user:noisy', 'user:quiet']) await kit.owners.cancel(owner, { close: false });
    await next(1);
  });

  it('survives a worker that is gone: its job runs again, before the turns of others', async () => {
    const queue = fairQueue();
    await add(queue, 'a', 2);
    await add(queue, 'b', 1);
    const { id } = await fetch();
    await kit.redis.del(`${kit.prefix}:audio:${id}:lock`, `${kit.prefix}:audio:stalled-check`);
    for (let n = 0; n < 2; n += 1) {
      await kit.redis.del(`${kit.prefix}:audio:stalled-check`);
      await (worker as unknown as { moveStalledJobsToWait(): Promise<void> }).moveStalledJobsToWait();
    }

    expect(await next(4)).toEqual(['a1', 'b1', 'a2']);
  });

  it('leaves nothing behind when the queue is empty', async () => {
    const queue = fairQueue();
    await add(queue, 'a', 3);
    expect(await kit.redis.exists(`${kit.prefix}~fair~audio`)).toBe(1);

    await next(4);

    expect(await kit.redis.exists(`${kit.prefix}~fair~audio`)).toBe(0);
  });

  it.each([
    ['a weight of nothing', { weights: { user: 0 } }],
    ['a type with an id', { by: 'user:a' }],
  ])('refuses %s', async (_, fair) => {
    await expect(fairQueue(fair).add('x', {}, { owners: ['user:a'] })).rejects.toMatchObject({
      code: 'INVALID',
    });
  });
});
