import type { JobsOptions } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';
import type { MooredQueue } from './moored-queue.js';

describe('a job that has ended', () => {
  let kit: CoreKit;
  let queue: MooredQueue;

  beforeEach(() => {
    kit = new CoreKit();
    queue = kit.queue();
  });

  afterEach(() => kit.stop());

  /** Adds jobs that fail with the message in their data. */
  async function addFailed(
    jobs: readonly { name?: string; text?: string; opts?: JobsOptions }[],
  ): Promise<string[]> {
    const before = await queue.getFailedCount();
    const added = await queue.addBulk(
      jobs.map(({ name = 'x', text = 'no', opts = { owners: ['track:1'] } }) => ({
        name,
        data: { text },
        opts,
      })),
    );
    const worker = kit.worker((job) => Promise.reject(new Error(job.data.text)), { concurrency: 50 });
    await until(async () => (await queue.getFailedCount()) === before + jobs.length, 'all have failed');
    await worker.close();
    return added.map(({ id }) => id!);
  }

  describe('that is retried alone', () => {
    it('waits under the present epochs of its owners', async () => {
      const [id] = await addFailed([{}]);
      await kit.owners.cancel('track:1', { close: false });

      expect(await queue.retry(id!)).toBe('prioritized');

      expect((await kit.owners.get('track:1'))?.jobs.map((job) => job.id)).toEqual([id]);
      const ran: unknown[] = [];
      kit.worker(async (job) => ran.push(job.id));
      await until(async () => (await queue.getCompletedCount()) === 1, 'it completed');
      expect(ran).toEqual([id]);
      await kit.nothingLeft();
    });

    it('keeps its error when an owner is closed', async () => {
      const [id] = await addFailed([{ text: 'too hot', opts: { owners: ['user:1', 'track:a|b'] } }]);
      await kit.owners.cancel('track:a|b');

      await expect(queue.retry(id!)).rejects.toMatchObject({ code: 'OWNER_CLOSED', owner: 'track:a|b' });

      expect(await queue.getJob(id!)).toMatchObject({ failedReason: 'too hot' });
      expect(await kit.owners.get('user:1')).toBeUndefined();
    });

    it('is refused with the reason', async () => {
      const { id } = await queue.add('x', {}, { owners: ['track:1'] });

      await expect(queue.retry('missing')).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await expect(queue.retry(id!)).rejects.toMatchObject({ code: 'NOT_ENDED', state: 'prioritized' });
      await queue.drain();
    });

    it('is refused while another job of its key is pending', async () => {
      const opts: JobsOptions = { owners: ['track:1'], dedup: { strategy: 'skip', key: 'k' } };
      const [id] = await addFailed([{ opts }]);
      const newer = await queue.add('x', {}, opts);

      await expect(queue.retry(id!)).rejects.toMatchObject({ code: 'DUPLICATE', pendingId: newer.id });
      await newer.remove();
      await queue.retry(id!);

      expect(await queue.enqueue('x', {}, opts)).toEqual({ outcome: 'skipped', id });
      await queue.drain();
      await kit.nothingLeft();
    });
  });

  describe('that is retried with others', () => {
    it('waits if it matches the filter', async () => {
      const owners = ['user:2', 'track:2'];
      await addFailed([{ name: 'a' }, { name: 'b', text: 'disk is full' }]);
      const split = Date.now() + 1;
      await until(() => Date.now() > split, 'a later millisecond');
      await addFailed([{ name: 'b' }, { name: 'b', opts: { owners } }, { name: 'plain', opts: {} }]);
      const answers = [];
      for (const filter of [
        { name: 'no-such-name' },
        { failedReason: 'is full' },
        { before: split },
        { owner: 'track:2', name: 'b' },
        { after: split, limit: 1 },
      ]) {
        const { seen, retried } = await queue.retryMatching(filter);
        answers.push({ seen, retried });
      }

      expect(answers).toEqual([
        { seen: 5, retried: 0 },
        { seen: 5, retried: 1 },
        { seen: 1, retried: 1 },
        { seen: 3, retried: 1 },
        { seen: 1, retried: 1 },
      ]);
      expect(await queue.getFailedCount()).toBe(1);
      expect(await queue.count()).toBe(4);
      await queue.drain();
    });

    it('is refused and counted if its owner is closed, over many pages', async () => {
      const jobs = Array.from({ length: 350 }, (_, i) => ({ opts: { owners: [`track:${i % 3}`] } }));
      await addFailed(jobs);
      await kit.owners.cancel('track:1');

      const answer = await queue.retryMatching();

      expect(answer).toEqual({ seen: 350, retried: 233, refused: 117, duplicates: 0 });
      expect(await queue.getFailedCount()).toBe(117);
      expect((await queue.getFailed(0, 0))[0]).toMatchObject({ failedReason: 'no' });
      expect((await kit.owners.get('track:0'))?.count).toBe(117);
      await queue.drain();
    });

    it('is retried once, even if it fails again meanwhile', async () => {
      await addFailed(Array.from({ length: 250 }, () => ({})));
      let runs = 0;
      kit.worker(
        async () => {
          runs += 1;
          throw new Error('again');
        },
        { concurrency: 50 },
      );

      const { retried } = await queue.retryMatching();

      await until(async () => (await queue.getFailedCount()) === 250, 'all failed again');
      expect(await queue.getJobCountByTypes('prioritized', 'active', 'delayed')).toBe(0);
      expect({ retried, runs }).toEqual({ retried: 250, runs: 250 });
      await kit.nothingLeft();
    });

    it("waits after BullMQ's own retryJobs", async () => {
      await addFailed([{}, { opts: {} }, {}, { opts: { owners: ['track:2'] } }]);
      await kit.owners.cancel('track:2');

      await queue.retryJobs({ count: 1 });

      expect(await queue.getJobCounts('wait', 'prioritized', 'failed')).toEqual({
        wait: 1,
        prioritized: 2,
        failed: 1,
      });
      expect((await kit.owners.get('track:1'))?.count).toBe(2);
      const worker = kit.worker(() => Promise.resolve());
      await until(async () => (await queue.getCompletedCount()) === 3, 'all completed');
      await worker.close();
      await queue.retryJobs({ state: 'completed', timestamp: Date.now() + 1_000 });
      expect((await kit.owners.get('track:1'))?.count).toBe(2);
      expect(await queue.count()).toBe(3);
      await queue.drain();
    });
  });
});

describe('promoteJobs', () => {
  it('moves delayed jobs to the place of their priority, and leaves those that wait for a slot in their line', async () => {
    const kit = new CoreKit();
    const queue = kit.queue();
    const opts = { owners: ['track:1'], slot: { key: 'gpu', limit: 1 } };
    const order: string[] = [];
    const release: (() => void)[] = [];
    kit.worker(async ({ name }) => {
      order.push(name);
      if (name.startsWith('slot')) await new Promise<void>((resolve) => release.push(resolve));
    });
    for (const name of ['slot 1', 'slot 2', 'slot 3']) await queue.add(name, {}, opts);
    await until(async () => (await queue.getDelayedCount()) === 2, 'two wait for the slot');
    await queue.pause();
    await queue.addBulk([
      { name: 'late', data: {}, opts: { owners: ['track:1'], delay: 60_000, priority: 9 } },
      { name: 'plain', data: {}, opts: { delay: 60_000 } },
      { name: 'cancelled', data: {}, opts: { owners: ['track:2'], delay: 60_000 } },
    ]);

    await queue.promoteJobs();

    expect(await queue.getJobCounts('prioritized', 'delayed')).toEqual({ prioritized: 2, delayed: 2 });
    expect(await queue.getWaitingCount()).toBe(1);
    expect(await kit.owners.cancel('track:2', { close: false })).toMatchObject({ removed: 1, done: true });
    await queue.resume();
    for (let i = 1; i <= 3; i += 1) {
      await until(() => release.length === i, `slot ${i} runs`);
      release[i - 1]!();
    }
    await until(async () => (await queue.getCompletedCount()) === 5, 'all completed');
    expect(order.filter((name) => name.startsWith('slot'))).toEqual(['slot 1', 'slot 2', 'slot 3']);
    await kit.nothingLeft();
    await kit.stop();
  });
});
