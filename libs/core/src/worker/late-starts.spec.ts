import type { Job } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';
import { CancelListener } from './cancel-listener.js';
import type { OwnerStore } from '../owners/owner-store.js';
import type { RefusedJob } from './worker-events.js';

describe('a job that was cancelled or expired before its run', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  const untilStopped = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));

  it('is announced as refused when a worker fetched it too late', async () => {
    const job = await kit.queue().add('x', {}, { owners: ['track:1'], expiresIn: 1 });
    await until(() => Date.now() > job.timestamp + 5, 'its time is over');
    const refused: RefusedJob[] = [];
    kit
      .worker(() => Promise.reject(new Error('It ran.')))
      .on('refused', (refusal) => refused.push(refusal))
      .on('failed', (_, error) => kit.errors.push(error));

    await until(() => refused.length > 0, 'it was refused');

    expect(refused).toEqual([{ id: job.id, reason: 'expired' }]);
    await kit.nothingLeft();
  });

  it('is announced as refused when a clean-up has not reached it', async () => {
    const queue = kit.queue();
    const opts = { owners: ['track:1'] };
    const jobs = await queue.addBulk(Array.from({ length: 700 }, () => ({ name: 'x', data: {}, opts })));
    // The first step of a cancel, after which its process is killed.
    const store = kit.owners['at'].store as OwnerStore;
    const args = ['track:1', 'c1', '1', '', '', 60_000, '', '', '', 100, '', ''];
    await store.run('cancel', `${kit.prefix}~owner~track:1`, args);
    const left = await queue.count();
    const refused: RefusedJob[] = [];
    // The worker would continue the clean-up.
    kit
      .worker(() => Promise.reject(new Error('It ran.')), { skipStalledCheck: true })
      .on('refused', (each) => refused.push(each));

    await until(() => refused.length >= left, 'all were refused');

    expect(left).toBeGreaterThan(0);
    expect(new Set(refused.map(({ reason }) => reason))).toEqual(new Set(['cancelled']));
    expect(jobs.map(({ id }) => id)).toEqual(expect.arrayContaining(refused.map(({ id }) => id)));
    await kit.owners.resume();
  });

  it('does not reach its processor when the cancel is announced first', async () => {
    const ran: string[] = [];
    const events: string[] = [];
    let stopped = 0;
    const worker = kit.worker(
      async (job: Job, _token?: string, signal?: AbortSignal) => {
        ran.push(job.name);
        await untilStopped(signal!).finally(() => (stopped += 1));
      },
      { autorun: false },
    );
    worker.on('cancelled', ({ name }) => events.push(name));
    const fetch = worker['nextJobFromJobData'].bind(worker);
    worker['nextJobFromJobData'] = async (...args) => {
      const job = await fetch(...args);
      if (job?.name === 'late') {
        await kit.owners.cancel('track:1', { close: false });
        // Announcements arrive in order: when this one has arrived, the previous one has too.
        await kit.owners.cancel('track:2', { close: false });
        await until(() => stopped === 1, 'the other run was told to stop');
      }
      return job;
    };
    void worker.run();
    await kit.queue().add('first', {}, { owners: ['track:2'] });
    await until(() => ran.length === 1, 'the other run has begun');

    await kit.queue().add('late', {}, { owners: ['track:1'] });

    await until(() => events.includes('late'), 'it was ended');
    expect(ran).toEqual(['first']);
    expect(await kit.owners.history('track:1')).toHaveLength(1);
    await kit.owners.resume();
    await kit.nothingLeft();
  });

  it('runs when it only shares the id of a cancelled job', async () => {
    const ran: string[] = [];
    const start = (name: string) =>
      kit.worker(
        async (job: Job, _token?: string, signal?: AbortSignal) => {
          ran.push(`${name} ${job.data.n}`);
          if (job.data.n === 1) await untilStopped(signal!);
        },
        { concurrency: 1 },
      );
    const queue = kit.queue();
    const first = start('first');
    await queue.add('x', { n: 1 }, { owners: ['track:1'], jobId: 'order-7' });
    await until(() => ran.length === 1, 'it runs');
    // In the same process as the first worker, so that both receive the cancel at the same time.
    start('second');
    await kit.owners.cancel('track:1', { close: false, wait: 'drained' });
    await first.close();

    await queue.add('x', { n: 2 }, { owners: ['track:1'], jobId: 'order-7' });

    await until(async () => (await queue.getCompletedCount()) === 1, 'it completed');
    expect(ran).toEqual(['first 1', 'second 2']);
  });

  it('is told to stop by an announcement that arrived before its worker listened', async () => {
    await kit.redis.xadd(`${kit.prefix}~cancelled`, '*', 'runs', 'audio:7');
    const heard: string[] = [];
    const stop = (jobId: string) => heard.push(jobId);
    const listener = CancelListener.of(kit.redis, kit.prefix);
    listener.listen('audio', stop);

    await until(() => heard.length > 0, 'it was received');

    expect(heard).toEqual(['7']);
    await listener.leave('audio', stop);
  });
});
