import { MooredQueue, MooredWorker } from '#core';
import type { Job } from 'bullmq';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../support/until.js';
import { ownersOf } from './audio.processor.js';
import { Shop } from './shop.js';

/** Old and new programs on the same queue, as in every gradual deployment. */
describe('programs with BullMQ and programs with Mooring on one queue', () => {
  let shop: Shop;

  beforeEach(async () => {
    shop = await Shop.open();
  });

  afterEach(() => shop.close());

  function mooredQueue(): MooredQueue {
    return shop.keep(new MooredQueue('audio', { connection: shop.connection }));
  }

  function mooredWorker(
    processor: (job: Job, token?: string, signal?: AbortSignal) => Promise<unknown>,
  ): MooredWorker {
    const worker = new MooredWorker('audio', processor, {
      connection: shop.connection,
      concurrency: 10,
      ownersOf,
    });
    return shop.keep(worker.on('error', (error) => errors.push(error)));
  }

  const errors: Error[] = [];

  it('lets a plain producer add jobs for a worker that resolves their owners', async () => {
    const stopped: string[] = [];
    mooredWorker(async (job, _token, signal) => {
      if (!job.data.untilStopped) return;
      await once(signal!, 'abort');
      stopped.push(job.id!);
    });
    const plain = shop.plainQueue('audio');
    const running = await plain.add('transcode', { userId: 'ada', untilStopped: true });
    const other = await plain.add('transcode', { userId: 'bob' });
    await until(() => other.isCompleted(), 'the other has run');
    await until(() => running.isActive(), 'it runs');

    const receipt = await shop.owners.cancel('user:ada', { wait: 'drained' });
    await plain.add('transcode', { userId: 'ada' });

    expect(receipt).toMatchObject({ removed: 0, aborted: 1, acknowledged: 1, done: true });
    expect(stopped).toEqual([running.id]);
    await until(async () => (await shop.owners.history('user:ada')).length === 2, 'the second has ended too');
    expect(await plain.getJobCounts()).toMatchObject({ completed: 1, failed: 0, active: 0, waiting: 0 });
  });

  it('runs jobs with unresolvable owners as plain BullMQ does, and reports it', async () => {
    errors.length = 0;
    const ran: unknown[] = [];
    mooredWorker(async (job) => ran.push(job.data));
    const plain = shop.plainQueue('audio');

    await plain.add('odd', null);
    await plain.add('odd', { userId: '' });

    await until(() => ran.length === 2, 'both have run');
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringContaining('The owners of job 1 cannot be told'),
      expect.stringContaining('The owners of job 2 cannot be told'),
    ]);
    await until(async () => (await plain.getCompletedCount()) === 2, 'both are completed');
    errors.length = 0;
  });

  it('uses the owners that a plain producer named', async () => {
    const plain = shop.plainQueue('audio');
    const opts = { owners: ['user:ada'] };
    await plain.addBulk([1, 2, 3].map((n) => ({ name: 'transcode', data: { n }, opts })));

    expect(await mooredQueue().adopt({ ownersOf: () => ['user:bob'] })).toMatchObject({ adopted: 3 });
    expect(await shop.owners.cancel('user:ada', { wait: 'drained' })).toMatchObject({ removed: 3 });

    mooredWorker(async () => undefined);
    await plain.add('transcode', {}, opts);
    await until(async () => (await shop.owners.history('user:ada')).length === 4, 'the last has ended');
    expect(await plain.getJobCounts()).toMatchObject({ completed: 0, failed: 0, waiting: 0 });
  });

  it('ends the schedule of a plain producer when its owner is closed', async () => {
    const plain = shop.plainQueue('audio');
    await plain.upsertJobScheduler('peaks', { every: 100 }, { name: 'peaks', data: { userId: 'ada' } });
    await shop.owners.cancel('user:ada');
    let runs = 0;

    mooredWorker(async () => (runs += 1));

    await until(async () => (await plain.getJobSchedulersCount()) === 0, 'the schedule has ended');
    expect(await plain.getJobCounts()).toMatchObject({ delayed: 0, waiting: 0, completed: 0, failed: 0 });
    expect(runs).toBe(0);
  });

  it('lets a plain worker run jobs of owners, with their own payload', async () => {
    const seen: unknown[] = [];
    shop.plainWorker('audio', async (job) => seen.push(job.data));

    const job = await mooredQueue().add('transcode', { n: 1 }, { owners: ['user:ada'] });

    await until(() => job.isCompleted(), 'it is completed');
    expect(seen).toEqual([{ n: 1 }]);
  });

  it('removes jobs of a cancelled owner before a plain worker can fetch them', async () => {
    const queue = mooredQueue();
    await queue.addBulk(
      [1, 2, 3].map((n) => ({ name: 'transcode', data: { n }, opts: { owners: ['user:ada'] } })),
    );

    const receipt = await shop.owners.cancel('user:ada', { wait: 'drained' });

    expect(receipt).toMatchObject({ removed: 3, done: true });
    const seen: unknown[] = [];
    shop.plainWorker('audio', async (job) => seen.push(job.data));
    const last = await shop.plainQueue('audio').add('transcode', { n: 4 });
    await until(() => last.isCompleted(), 'the plain job has run');
    expect(seen).toEqual([{ n: 4 }]);
  });

  it('cannot stop a run of a plain worker, and counts it as a job of its owner until a cancel', async () => {
    const queue = mooredQueue();
    let finish = (): void => undefined;
    shop.plainWorker('audio', () => new Promise<void>((resolve) => (finish = resolve)));
    const job = await queue.add('transcode', {}, { owners: ['user:ada'] });
    await until(() => job.isActive(), 'it runs');

    const receipt = await shop.owners.cancel('user:ada', { close: false });
    finish();
    await until(() => job.isCompleted(), 'it is completed');

    expect(receipt).toMatchObject({ removed: 0, aborted: 1, done: false });
    expect((await shop.owners.get('user:ada'))?.count).toBe(1);
    await shop.owners.resume();
    expect(await shop.owners.receipt(receipt.cancelId)).toMatchObject({ done: true });
    expect(await shop.owners.get('user:ada')).toBeUndefined();
  });

  it('counts a job that a plain program removed until a cancel', async () => {
    const job = await mooredQueue().add('transcode', {}, { owners: ['user:ada'] });
    await shop.plainQueue('audio').remove(job.id!);
    expect((await shop.owners.get('user:ada'))?.count).toBe(1);

    await shop.owners.cancel('user:ada', { close: false, wait: 'drained' });

    expect(await shop.owners.get('user:ada')).toBeUndefined();
  });

  describe('a failed job of an owner that a program without owners retries', () => {
    async function failedJob(): Promise<{ queue: MooredQueue; job: Job }> {
      const queue = mooredQueue();
      mooredWorker(async (job) => {
        if (job.data.fails && job.attemptsMade === 0) throw new Error('once');
      });
      const job = await queue.add('transcode', { fails: true }, { owners: ['user:ada'], expiresIn: '1h' });
      await until(() => job.isFailed(), 'it has failed');
      return { queue, job };
    }

    async function retryPlainly(id: string): Promise<void> {
      await (await shop.plainQueue('audio').getJob(id))!.retry();
    }

    it('runs again under its owner', async () => {
      const { job } = await failedJob();

      await retryPlainly(job.id!);

      await until(() => job.isCompleted(), 'it is completed');
      expect(await shop.keys('bull~owner*')).toEqual([]);
    });

    it("belongs to its owner when it is fetched in the step that ends the owner's last other job", async () => {
      const queue = mooredQueue();
      const counts: (number | undefined)[] = [];
      const worker = new MooredWorker(
        'audio',
        async (job) => {
          counts.push((await shop.owners.get('user:ada'))?.count);
          if (job.data.fails && job.attemptsMade === 0) throw new Error('once');
        },
        { connection: shop.connection, concurrency: 1 },
      );
      shop.keep(worker);
      const job = await queue.add('transcode', { fails: true }, { owners: ['user:ada'] });
      await until(() => job.isFailed(), 'it has failed');
      await queue.pause();
      await queue.add('transcode', {}, { owners: ['user:ada'] });
      await retryPlainly(job.id!);
      await queue.resume();

      await until(() => job.isCompleted(), 'it is completed');
      expect(counts).toEqual([1, 1, 1]);
      expect(await shop.ownersWithJobs()).toEqual([]);
    });

    it('runs again when its owner has other jobs', async () => {
      const { queue, job } = await failedJob();
      const later = await queue.add('transcode', {}, { owners: ['user:ada'], delay: 3_600_000 });

      await retryPlainly(job.id!);

      await until(() => job.isCompleted(), 'it is completed');
      expect((await shop.owners.get('user:ada'))?.jobs.map(({ id }) => id)).toEqual([later.id]);
    });

    it('is adopted while it waits, so that a cancel finds it', async () => {
      const { queue, job } = await failedJob();
      await queue.pause();
      await retryPlainly(job.id!);

      expect(await queue.adopt({ ownersOf: () => [] })).toMatchObject({ adopted: 1, removed: 0, failed: 0 });

      expect((await shop.owners.get('user:ada'))?.count).toBe(1);
      expect(await shop.owners.cancel('user:ada', { wait: 'drained' })).toMatchObject({ removed: 1 });
    });

    it('does not run when its owner was closed in the meantime, even if it is open again', async () => {
      const { job } = await failedJob();
      await shop.owners.cancel('user:ada');
      await shop.owners.reopen('user:ada');

      await retryPlainly(job.id!);

      await until(async () => (await job.getState()) === 'unknown', 'it has ended');
      expect((await shop.owners.history('user:ada'))[0]).toMatchObject({ id: job.id, reason: 'cancelled' });
    });
  });
});
