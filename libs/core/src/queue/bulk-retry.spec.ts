import type { Job } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';

describe('MooredQueue, many jobs at once', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  /** Makes jobs fail: `count` of each owner and as many without owners, alternating. */
  async function failedJobs(owners: string[], count: number): Promise<void> {
    const queue = kit.queue();
    const worker = kit.worker(async () => {
      throw new Error('no');
    });
    const jobs = Array.from({ length: count }, () => [
      ...owners.map((owner) => ({ name: owner, data: {}, opts: { owners: [owner] } })),
      { name: 'plain', data: {} },
    ]);
    await queue.addBulk(jobs.flat());
    await until(async () => (await queue.getFailedCount()) === count * (owners.length + 1), 'all failed');
    await worker.close();
    await kit.nothingLeft();
  }

  it('retries failed jobs with their owners, and keeps those of a closed owner as they are', async () => {
    await failedJobs(['track:1', 'track:2'], 120);
    const queue = kit.queue();
    await kit.owners.cancel('track:2', { close: true });

    await queue.retryJobs();

    expect(await kit.owners.get('track:1')).toMatchObject({ count: 120 });
    expect(await kit.owners.get('track:2')).toMatchObject({ count: 0 });
    const failed = await queue.getFailed();
    expect(failed).toHaveLength(120);
    expect(new Set(failed.map(({ name, failedReason }) => `${name} ${failedReason}`))).toEqual(
      new Set(['track:2 no']),
    );
    const ran: string[] = [];
    kit.worker(async (job: Job) => ran.push(job.name));
    await until(() => ran.length === 240, 'the others ran');
    expect(ran.filter((name) => name === 'track:1')).toHaveLength(120);
    await until(async () => (await queue.getCompletedCount()) === 240, 'all have completed');
  });

  it('cancels jobs that were retried together before any of them is fetched', async () => {
    await failedJobs(['track:1'], 3);
    const queue = kit.queue();
    await queue.retryJobs();

    const receipt = await kit.owners.cancel('track:1');

    expect(receipt).toMatchObject({ removed: 3, done: true });
    expect(await queue.getJobCountByTypes('wait', 'prioritized', 'failed')).toBe(3);
  });

  it('promotes delayed jobs to the place of their priority, except those that wait for a slot', async () => {
    const queue = kit.queue();
    const slot = { key: 'gpu', limit: 1 };
    const done: (() => void)[] = [];
    kit.worker(() => new Promise<void>((resolve) => done.push(resolve)));
    await queue.add('holds', {}, { owners: ['track:1'], slot });
    await until(() => done.length === 1, 'one job holds the slot');
    await queue.add('in line', {}, { owners: ['track:1'], slot });
    await until(async () => (await queue.getDelayedCount()) === 1, 'the other one waits for it');
    await queue.pause();
    await queue.add('later', {}, { owners: ['track:1'], delay: 60_000 });

    await queue.promoteJobs();

    expect(await queue.getJobCounts('delayed', 'prioritized', 'wait')).toEqual({
      delayed: 1,
      prioritized: 1,
      wait: 0,
    });
    await queue.resume();
    await until(() => done.length === 2, 'the promoted job runs');
    for (const end of done) end();
    await until(() => done.length === 3, 'the job in line runs');
    done[2]!();
    await kit.nothingLeft();
  });
});
