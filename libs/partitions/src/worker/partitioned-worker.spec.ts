import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/core-kit.js';
import { PartitionsKit } from '../../../../test/support/partitions-kit.js';
import { partitionOfOwner } from '../model/partitions.js';

const { PARTITIONS } = PartitionsKit;

/** Owners of one partition each. */
const OWNERS = Array.from({ length: PARTITIONS }, (_, at) => {
  for (let n = 0; ; n += 1) if (partitionOfOwner(`track:${n}`, PARTITIONS) === at) return `track:${n}`;
});

describe('MooredWorker with several partitions', () => {
  let kit: PartitionsKit;

  beforeEach(() => {
    kit = new PartitionsKit();
  });

  afterEach(() => kit.stop());

  const jobsOf = (owner: string, count: number) =>
    Array.from({ length: count }, (_, n) => ({ name: 'x', data: { owner, n }, opts: { owners: [owner] } }));

  it('runs the jobs of all partitions, never more than its concurrency at a time', async () => {
    let [running, most, ran] = [0, 0, 0];
    kit.worker(
      async () => {
        most = Math.max(most, (running += 1));
        await pause(2);
        running -= 1;
        ran += 1;
      },
      { concurrency: 4 },
    );

    await Promise.all(OWNERS.map((owner) => kit.queue().addBulk(jobsOf(owner, 60))));

    await until(() => ran === 180, 'all have run');
    expect(most).toBe(4);
    await kit.nothingLeft();
  });

  it('gives the place of a run that ends to another partition while the other runs continue', async () => {
    const queue = kit.queue();
    const ends = new Map<string, () => void>();
    const started: string[] = [];
    kit.worker(
      (job) => {
        started.push(job.name);
        return new Promise<void>((resolve) => ends.set(job.name, resolve));
      },
      { concurrency: 2 },
    );
    await queue.add('long', {}, { owners: [OWNERS[0]!] });
    await queue.add('short', {}, { owners: [OWNERS[1]!] });
    await until(() => started.length === 2, 'both run');
    await queue.add('behind the long one', {}, { owners: [OWNERS[0]!] });

    ends.get('short')!();

    await until(() => started.length === 3, 'a permit has changed partitions');
    ends.get('long')!();
    ends.get('behind the long one')!();
    await kit.nothingLeft();
  });

  it('soon starts the job of a quiet partition, however many jobs another one has', async () => {
    const queue = kit.queue();
    await queue.addBulk(jobsOf(OWNERS[0]!, 400));
    await queue.add('quiet', {}, { owners: [OWNERS[1]!] });
    const order: string[] = [];

    kit.worker(async (job) => order.push(job.name), { concurrency: 1 });

    await until(() => order.length === 401, 'all have run');
    expect(order.indexOf('quiet')).toBeLessThan(100);
  });

  it('leaves a job to another process while all its own permits are in use', async () => {
    const queue = kit.queue();
    const ran: string[] = [];
    let end: (() => void) | undefined;
    const busy = kit.worker(() => new Promise<void>((resolve) => (end = resolve)), { concurrency: 1 });
    await once(busy, 'drained');
    await queue.add('long', {}, { owners: [OWNERS[0]!] });
    await until(() => end, 'it runs');
    // That process has waited longer in the other partitions, so it gets a job there first.
    await once(
      kit.worker(async (job) => ran.push(job.name), { concurrency: 1 }),
      'drained',
    );

    for (const n of [1, 2, 3, 4]) {
      const before = Date.now();
      await queue.add(`next ${n}`, {}, { owners: [OWNERS[1]!] });
      await until(() => ran.length === n, 'the free worker has run it');
      expect(Date.now() - before).toBeLessThan(3_000);
    }
    end!();
    await kit.nothingLeft();
  });

  it('announces events in all partitions, and drained only once', async () => {
    const events: string[] = [];
    const worker = kit.worker(
      async (job: Job<{ owner: string }>) => {
        if (job.data.owner === OWNERS[1]) throw new Error('broken');
      },
      { autorun: false },
    );
    for (const event of ['active', 'completed', 'failed', 'drained'] as const) {
      worker.on(event, () => events.push(event));
    }
    await Promise.all(OWNERS.map((owner) => kit.queue().addBulk(jobsOf(owner, 2))));

    worker.run().catch((error: Error) => kit.errors.push(error));
    await until(
      () => events.filter((event) => /completed|failed/.test(event)).length === 6,
      'all have ended',
    );
    await until(() => events.includes('drained'), 'it is drained');

    const count = (name: string) => events.filter((event) => event === name).length;
    expect([count('active'), count('completed'), count('failed'), count('drained')]).toEqual([6, 4, 2, 1]);
  });

  it('changes its concurrency while it runs', async () => {
    let running = 0;
    const ends: (() => void)[] = [];
    const worker = kit.worker(
      () => {
        running += 1;
        return new Promise<void>((resolve) => ends.push(resolve));
      },
      { concurrency: 1 },
    );
    await Promise.all(OWNERS.map((owner) => kit.queue().addBulk(jobsOf(owner, 2))));
    await until(() => running === 1, 'one runs');

    worker.concurrency = 5;

    await until(() => running === 5, 'five run');
    for (const end of ends) end();
    await until(() => running === 6, 'all have begun');
    ends.at(-1)!();
    await kit.nothingLeft();
  });

  it('applies a lower concurrency as soon as its runs end', async () => {
    let [running, most, ran] = [0, 0, 0];
    const ends: (() => void)[] = [];
    const worker = kit.worker(
      async () => {
        most = Math.max(most, (running += 1));
        if (ends.length < 6) await new Promise<void>((resolve) => ends.push(resolve));
        else await pause(2);
        running -= 1;
        ran += 1;
      },
      { concurrency: 6 },
    );
    const queue = kit.queue();
    await Promise.all(OWNERS.map((owner) => queue.addBulk(jobsOf(owner, 2))));
    await until(() => ends.length === 6, 'two of each partition run');
    await Promise.all(OWNERS.map((owner) => queue.addBulk(jobsOf(owner, 20))));

    worker.concurrency = 3;
    most = 0;
    for (const end of ends) end();

    await until(() => ran === 66, 'all have run');
    expect(most).toBe(3);
    await kit.nothingLeft();
  });

  it('stops fetching while it is paused, even with all permits in use', async () => {
    const ran: string[] = [];
    const worker = kit.worker(async (job) => ran.push(job.name), { concurrency: 1 });
    await worker.pause();
    await Promise.all(OWNERS.map((owner) => kit.queue().addBulk(jobsOf(owner, 2))));

    expect(await kit.queue().count()).toBe(6);
    expect(worker.isPaused()).toBe(true);
    await worker.resume();

    await until(() => ran.length === 6, 'all have run');
  });

  it('hands its runs back at shutdown, in all partitions', async () => {
    const worker = kit.worker(
      (_job, _token, signal) =>
        new Promise<void>((_, reject) =>
          signal!.addEventListener('abort', () => reject(new Error('stopped'))),
        ),
      { concurrency: 6 },
    );
    await Promise.all(OWNERS.map((owner) => kit.queue().addBulk(jobsOf(owner, 2))));
    await until(async () => (await kit.queue().getActiveCount()) === 6, 'all run');

    await worker.shutdown({ finishWithin: 0 });

    expect(await kit.queue().getJobCounts('active', 'prioritized')).toEqual({ active: 0, prioritized: 6 });
  });

  it('returns jobs one at a time to a caller that fetches by itself', async () => {
    const worker = kit.worker(async () => undefined, { autorun: false });
    await Promise.all(OWNERS.map((owner) => kit.queue().addBulk(jobsOf(owner, 1))));

    const jobs = await Promise.all([1, 2, 3].map((n) => worker.getNextJob(`t${n}`, { block: false })));
    expect(new Set(jobs.map((job) => job.queueQualifiedName)).size).toBe(3);
    expect(await worker.getNextJob('t4', { block: false })).toBeUndefined();
    await Promise.all(jobs.map((job, i) => job.moveToCompleted('done', `t${i + 1}`, false)));
    await kit.nothingLeft();
  });
});
