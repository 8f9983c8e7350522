import { Queue, type Job } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MooredQueue } from '#core';
import { until } from '../../../../test/support/core-kit.js';
import { methodsOf } from '../../../../test/support/methods-of.js';
import { PartitionsKit } from '../../../../test/support/partitions-kit.js';
import { PartitionedQueue } from './partitioned-queue.js';

describe('MooredQueue with several partitions', () => {
  let kit: PartitionsKit;

  beforeEach(() => {
    kit = new PartitionsKit();
  });

  afterEach(() => kit.stop());

  const tracks = (count: number) =>
    Array.from({ length: count }, (_, n) => ({
      name: 'x',
      data: { n },
      opts: { owners: [`track:${n}`], timestamp: 1_000 + n },
    }));

  const rootOf = (job: Job) => job.queueQualifiedName.slice(0, job.queueQualifiedName.lastIndexOf(':'));

  it('keeps a job and all its owners in the partition of its first owner', async () => {
    const job = await kit.queue().add('x', {}, { owners: ['track:1', 'user:1', 'user:2'] });

    const root = rootOf(job);
    expect(kit.roots).toContain(root);
    const keys = await kit.redis.keys(`*${kit.prefix}*`);
    const elsewhere = keys.filter((key) => !key.startsWith(root) && !/(:meta|~partitions)$/.test(key));
    expect(elsewhere).toEqual([]);
    expect(await kit.redis.exists(`${root}~owner~user:2`)).toBe(1);
  });

  it('spreads the jobs of many owners over all partitions', async () => {
    const jobs = await kit.queue().addBulk(tracks(60));

    const counts = kit.roots.map((root) => jobs.filter((job) => rootOf(job) === root).length);
    expect(Math.min(...counts)).toBeGreaterThan(10);
    await kit.queue().drain();
    await kit.nothingLeft();
  });

  it('returns the jobs of a bulk in order', async () => {
    const jobs = await kit.queue().addBulk(tracks(20));

    expect(jobs.map((job) => (job.data as { n: number }).n)).toEqual([...Array(20).keys()]);
  });

  it('returns the outcome of each job of a bulk in order', async () => {
    const queue = kit.queue();
    await kit.owners.cancel('track:4');
    const jobs = tracks(8).map((job, n) =>
      n === 6 ? { ...job, opts: { ...job.opts, owners: ['none'] } } : job,
    );

    const tickets = await queue.enqueueBulk(jobs);

    const words = tickets.map((each) =>
      each.status === 'fulfilled' ? each.value.outcome : (each.reason as { code: string }).code,
    );
    const created = 'created';
    expect(words).toEqual([created, created, created, created, 'OWNER_CLOSED', created, 'INVALID', created]);
    for (const [n, each] of tickets.entries()) {
      if (each.status === 'fulfilled') expect((await queue.getJob(each.value.id))?.data).toEqual({ n });
    }
    await queue.drain();
  });

  it('finds jobs by id in any partition', async () => {
    const queue = kit.queue();
    const jobs = await queue.addBulk(tracks(10));
    const named = await queue.add('x', {}, { owners: ['track:3'], jobId: 'order-7' });
    const without = await queue.add('x', { mine: false });

    for (const job of [...jobs, named, without]) {
      expect((await queue.getJob(job.id!))?.data).toEqual(job.data);
      expect(await queue.getJobState(job.id!)).toMatch(/prioritized|waiting/);
      await queue.addJobLog(job.id!, 'seen');
      expect((await queue.getJobLogs(job.id!)).logs).toEqual(['seen']);
      expect(await queue.remove(job.id!)).toBe(1);
      expect(await queue.getJob(job.id!)).toBeUndefined();
    }
    await kit.nothingLeft();
  });

  it('adds one job for a jobId that a caller uses twice', async () => {
    const queue = kit.queue();
    const opts = { owners: ['track:1'], jobId: 'order-7' };

    const tickets = [await queue.enqueue('x', {}, opts), await queue.enqueue('x', {}, opts)];

    expect(tickets.map(({ outcome }) => outcome)).toEqual(['created', 'existing']);
    expect(await queue.count()).toBe(1);
  });

  it('refuses an id that names another partition', async () => {
    const queue = kit.queue();
    const jobs = await queue.addBulk(tracks(20));
    const other = jobs.find((job) => rootOf(job) !== rootOf(jobs[0]!))!;

    const added = queue.add('x', {}, { owners: ['track:0'], jobId: other.id! });

    await expect(added).rejects.toMatchObject({ code: 'INVALID' });
  });

  it('makes one job of fifty simultaneous calls with one key', async () => {
    const queue = kit.queue();
    const dedup = { strategy: 'skip', key: 'nightly' } as const;

    const tickets = await Promise.all(
      Array.from({ length: 50 }, () => queue.enqueue('build', {}, { owners: ['site:1'], dedup })),
    );

    expect(tickets.filter(({ outcome }) => outcome === 'created')).toHaveLength(1);
    expect(await queue.count()).toBe(1);
  });

  it('accepts a slot named after the first owner, and refuses one whose jobs may be in other partitions', async () => {
    const queue = kit.queue();
    const add = (owner: string, key: string) =>
      queue.add('x', {}, { owners: [owner], slot: { key, limit: 1 } });

    for (let n = 0; n < 6; n += 1) {
      await add(`track:${n}`, `track:${n}`);
      await add(`track:${n}`, `{track:${n}}/gpu`);
    }
    const shared = await Promise.allSettled(Array.from({ length: 12 }, (_, n) => add(`track:${n}`, 'gpu:1')));

    const taken = shared.flatMap((each) => (each.status === 'fulfilled' ? [rootOf(each.value)] : []));
    expect(new Set(taken).size).toBeLessThanOrEqual(1);
    expect(shared.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'INVALID' } });
    await queue.drain();
  });

  it('puts a child in the partition of its parent, and refuses it if its first owner has another one', async () => {
    const queue = kit.queue();
    const jobs = await queue.addBulk(tracks(20));
    const other = jobs.findIndex((job) => rootOf(job) !== rootOf(jobs[0]!));
    const parent = { id: jobs[0]!.id!, queue: jobs[0]!.queueQualifiedName };

    const child = await queue.add('child', {}, { parent });

    expect(rootOf(child)).toBe(rootOf(jobs[0]!));
    await expect(queue.add('child', {}, { parent, owners: [`track:${other}`] })).rejects.toMatchObject({
      code: 'INVALID',
    });
  });

  it('lists and counts the jobs of all partitions, in order and in pages', async () => {
    const queue = kit.queue();
    await queue.addBulk(tracks(12));
    await queue.add('later', { n: 12 }, { owners: ['track:5'], delay: 60_000 });
    const numbers = async (...args: Parameters<typeof queue.getJobs>) =>
      (await queue.getJobs(...args)).map((job) => (job.data as { n: number }).n);

    expect(await queue.getJobCounts('prioritized', 'delayed')).toEqual({ prioritized: 12, delayed: 1 });
    expect(await queue.count()).toBe(13);
    expect(await numbers('prioritized', 0, -1, true)).toEqual([...Array(12).keys()]);
    expect(await numbers('prioritized', 4, 6, true)).toEqual([4, 5, 6]);
    expect(await numbers(['delayed', 'prioritized'], 0, 0)).toEqual([12, 11]);
    expect(await queue.getRanges(['prioritized'], 0, -1)).toHaveLength(12);
    expect(await queue.getCountsPerPriority([1])).toEqual({ 1: 12 });
    expect(await queue.getDelayedCount(Date.now() + 120_000)).toBe(1);
  });

  it('pauses, resumes, cleans, drains and obliterates all partitions', async () => {
    const queue = kit.queue();
    await queue.pause();
    await queue.addBulk(tracks(12));
    expect(await queue.isPaused()).toBe(true);
    for (const root of kit.roots) expect(await kit.redis.hexists(`${root}:audio:meta`, 'paused')).toBe(1);
    await queue.resume();
    expect(await queue.isPaused()).toBe(false);

    expect(await queue.clean(0, 5, 'prioritized')).toHaveLength(5);
    expect(await queue.count()).toBe(7);
    await queue.drain();
    expect(await queue.count()).toBe(0);
    await kit.nothingLeft();
    await queue.addBulk(tracks(6));
    await queue.obliterate();
    expect((await kit.redis.keys(`*${kit.prefix}*:audio:*`)).filter((key) => !key.endsWith(':meta'))).toEqual(
      [],
    );
  });

  it('keeps a scheduler in the partition of its first owner, and moves it with that owner', async () => {
    const queue = kit.queue();
    const owners = (await queue.addBulk(tracks(20))).map(rootOf);
    const there = owners.findIndex((root) => root !== owners[0]);
    await queue.drain();
    const every = (owner: string) =>
      queue.upsertJobScheduler('nightly', { pattern: '0 3 * * *' }, { name: 'x', opts: { owners: [owner] } });

    await every('track:0');
    await every(`track:${there}`);

    expect(await queue.getJobSchedulersCount()).toBe(1);
    expect(await kit.redis.exists(`${owners[there]}:audio:repeat`)).toBe(1);
    expect((await queue.getJobSchedulers()).map(({ key }) => key)).toEqual(['nightly']);
    expect(await queue.getJobScheduler('nightly')).toMatchObject({ name: 'x' });
    expect(await queue.removeJobScheduler('nightly')).toBe(true);
    expect(await queue.count()).toBe(0);
    await kit.nothingLeft();
  });

  it('sums the metrics of its partitions', async () => {
    const queue = kit.queue();
    const worker = kit.worker(async () => undefined, { metrics: { maxDataPoints: 10 } });
    let completed = 0;
    worker.on('completed', () => (completed += 1));
    await queue.addBulk(tracks(12));

    await until(() => completed === 12, 'all are completed');

    expect((await queue.getMetrics('completed')).meta.count).toBe(12);
  });

  /** Their answers use methods that are overridden, or are the same in all partitions. */
  const COVERED = new Set(
    `constructor emit on off once Job trace base64Name createBackend getBackend checkConnectionError
     clientName defaultJobOptions metaValues getVersion getMeta jobScheduler addJob getGlobalConcurrency
     getGlobalRateLimit recordJobCountsMetric count getJobCountByTypes getCompletedCount getFailedCount
     getActiveCount getPrioritizedCount getWaitingCount getWaitingChildrenCount getWaiting
     getWaitingChildren getActive getDelayed getPrioritized getCompleted getFailed
     exportPrometheusMetrics commandByType sanitizeJobTypes baseGetClients parseClientList getWorkers
     getWorkersCount getQueueEvents describe withOwners moored`.split(/\s+/),
  );

  it('overrides every method of BullMQ and of MooredQueue that needs it', () => {
    const known = new Set([...methodsOf(PartitionedQueue, MooredQueue), ...COVERED]);
    const missing = [...methodsOf(MooredQueue, Queue), ...methodsOf(Queue, null)].filter(
      (name) => !known.has(name),
    );

    expect(missing).toEqual([]);
  });
});
