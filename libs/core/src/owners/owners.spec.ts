import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OwnerStore } from './owner-store.js';
import { defer } from '../../../../test/support/defer.js';
import { CoreKit, until, untilStopped } from '../../../../test/support/core-kit.js';
import type { CancelOptions } from './cancel-options.js';
import type { SeenOwner } from './canceller.js';
import type { ReceiptList } from './owner-reader.js';

describe('Owners', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  it('removes the jobs of an owner from every queue and state, and no other jobs', async () => {
    const [audio, video] = [kit.queue('audio'), kit.queue('video')];
    const mine = { owners: ['track:1'] };
    await audio.addBulk(Array.from({ length: 5 }, () => ({ name: 'x', data: {}, opts: mine })));
    await audio.add('x', {}, { ...mine, delay: 60_000 });
    await video.add('x', {}, { owners: ['user:9', 'track:1'], priority: 7 });
    await audio.add('x', {}, { ...mine, lifo: true });
    await audio.add('other', {}, { owners: ['track:2'] });

    const receipt = await kit.owners.cancel('track:1', { reason: 'deleted', by: 'ann' });

    expect(receipt).toMatchObject({
      owner: 'track:1',
      closed: true,
      reason: 'deleted',
      by: 'ann',
      removed: 8,
      aborted: 0,
      done: true,
      byQueue: { audio: { waiting: 6, delayed: 1 }, video: { waiting: 1 } },
    });
    expect(await audio.getJobCountByTypes('wait', 'prioritized', 'delayed')).toBe(1);
    expect(await video.count()).toBe(0);
    expect(await kit.owners.get('user:9')).toBeUndefined();
    expect((await kit.owners.history('track:1')).map(({ reason }) => reason)).toEqual(
      Array(8).fill('cancelled'),
    );
    expect(await kit.owners.history('user:9')).toHaveLength(1);
  });

  it('removes a job that waits for its next attempt', async () => {
    const queue = kit.queue();
    kit.worker(async () => {
      throw new Error('not now');
    });
    await queue.add('x', {}, { owners: ['track:1'], attempts: 3, backoff: 60_000 });
    await until(async () => (await queue.getDelayedCount()) > 0, 'it waits for its next attempt');

    const receipt = await kit.owners.cancel('track:1');

    expect(receipt).toMatchObject({ removed: 1, done: true, byQueue: { audio: { retrying: 1 } } });
    expect(await queue.getDelayedCount()).toBe(0);
  });

  it('returns the same receipt for the same cancelId and keeps jobs that were enqueued later', async () => {
    const queue = kit.queue();
    await queue.add('x', {}, { owners: ['track:1'] });
    const first = await kit.owners.cancel('track:1', { cancelId: 'c1', close: false });
    await queue.add('x', {}, { owners: ['track:1'] });

    const again = await kit.owners.cancel('track:1', { cancelId: 'c1', close: false });

    expect(again).toEqual(first);
    expect(await queue.count()).toBe(1);
    await expect(kit.owners.cancel('track:2', { cancelId: 'c1' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
  });

  it('lets no trigger join a job that is cancelled but not yet removed', async () => {
    const queue = kit.queue();
    const mine = { owners: ['user:1'] };
    await queue.addBulk(Array.from({ length: 700 }, () => ({ name: 'x', data: {}, opts: mine })));
    const keys = Array.from({ length: 20 }, (_, n) => `k${n}`);
    const trigger = (key: string) =>
      queue.enqueue('x', {}, { owners: ['track:1', 'user:1'], dedup: { strategy: 'skip', key } });
    await Promise.all(keys.map(trigger));
    await kit.cancelAndDie('user:1');
    expect((await kit.owners.get('track:1'))!.count).toBeGreaterThan(0);

    const tickets = await Promise.all(keys.map(trigger));

    expect(new Set(tickets.map(({ outcome }) => outcome))).toEqual(new Set(['created']));
    await kit.owners.resume();
    expect(await queue.count()).toBe(keys.length);
  });

  it('continues the clean-up when a cancel is repeated', async () => {
    const queue = kit.queue();
    const mine = { owners: ['user:1'] };
    await queue.addBulk(Array.from({ length: 700 }, () => ({ name: 'x', data: {}, opts: mine })));
    await kit.cancelAndDie('user:1', 'c1');

    const receipt = await kit.owners.cancel('user:1', { cancelId: 'c1', close: false });

    expect(receipt).toMatchObject({ removed: 700, done: true });
    expect(await queue.count()).toBe(0);
  });

  it('refuses jobs of a closed owner until it is reopened', async () => {
    const queue = kit.queue();
    await kit.owners.cancel('track:1');
    await expect(queue.add('x', {}, { owners: ['track:1'] })).rejects.toMatchObject({ code: 'OWNER_CLOSED' });

    await kit.owners.reopen('track:1');
    await queue.add('x', {}, { owners: ['track:1'] });

    expect(await kit.owners.get('track:1')).toMatchObject({ state: 'open', count: 1 });
    expect(await kit.redis.ttl(`${kit.prefix}~owner~track:1`)).toBe(-1);
  });

  it('does not cancel an owner that was reopened after the event', async () => {
    const queue = kit.queue();
    const before = Date.now() - 1_000;
    await kit.owners.reopen('track:1');
    await queue.add('x', {}, { owners: ['track:1'] });

    const receipt = await kit.owners.cancel('track:1', { happenedAt: before });

    expect(receipt).toMatchObject({ late: true, removed: 0 });
    expect(await queue.count()).toBe(1);
  });

  it('does not cancel an owner that got a job since the caller looked', async () => {
    const queue = kit.queue();
    await queue.add('x', {}, { owners: ['track:1'] });
    const seen = (await kit.owners.get('track:1'))!;
    await queue.add('x', {}, { owners: ['track:1'] });

    expect(await kit.owners.cancel('track:1', {}, seen)).toMatchObject({ late: true, removed: 0 });
    const now = (await kit.owners.get('track:1'))!;
    expect(await kit.owners.cancel('track:1', {}, now)).toMatchObject({ late: false, removed: 2 });
  });

  it('writes nothing for an unknown owner that is not closed', async () => {
    const receipt = await kit.owners.cancel('ghost:1', { close: false });

    expect(receipt).toMatchObject({ removed: 0, aborted: 0, done: true });
    expect(await kit.ownerKeys()).toEqual([]);
  });

  it('forgets after a time that an owner without jobs was closed', async () => {
    await kit.owners.cancel('track:1');

    expect(await kit.redis.ttl(`${kit.prefix}~owner~track:1`)).toBeGreaterThan(29 * 24 * 3_600);
  });

  it('cancels one job and keeps the other jobs of its owner', async () => {
    const queue = kit.queue();
    const [one] = await queue.addBulk(
      [1, 2].map((n) => ({ name: 'x', data: { n }, opts: { owners: ['track:1'] } })),
    );

    const receipt = await kit.owners.cancelJob('audio', one!.id!, { reason: 'not that one' });

    expect(receipt).toMatchObject({ owner: 'track:1', removed: 1, done: true });
    expect(await queue.getJob(one!.id!)).toBeUndefined();
    expect((await kit.owners.get('track:1'))?.count).toBe(1);
    expect(await kit.owners.cancelJob('audio', one!.id!)).toBeUndefined();
    await queue.drain();
    await kit.nothingLeft();
  });

  it('stops one running job', async () => {
    kit.worker(untilStopped);
    const job = await kit.queue().add('x', {}, { owners: ['track:1'] });
    await until(async () => (await job.getState()) === 'active', 'it runs');

    const receipt = await kit.owners.cancelJob('audio', job.id!, { wait: 'drained' });

    expect(receipt).toMatchObject({ aborted: 1, acknowledged: 1, done: true });
    await kit.nothingLeft();
  });

  it('answers when no run is left', async () => {
    kit.worker(untilStopped, { concurrency: 20 });
    await kit
      .queue()
      .addBulk(Array.from({ length: 20 }, () => ({ name: 'x', data: {}, opts: { owners: ['track:1'] } })));
    await until(async () => (await kit.queue().getActiveCount()) === 20, 'all run');

    const receipt = await kit.owners.cancel('track:1', { wait: 'drained' });

    expect(receipt).toMatchObject({ aborted: 20, acknowledged: 20, removed: 0, done: true });
  });

  it('answers when the time to wait is over, even if a run has not ended', async () => {
    const release: (() => void)[] = [];
    kit.worker(() => new Promise<void>((resolve) => release.push(resolve)));
    await kit.queue().add('x', {}, { owners: ['track:1'] });
    await until(() => release.length === 1, 'it runs');

    const receipt = await kit.owners.cancel('track:1', { wait: 'drained', waitFor: '100ms' });

    expect(receipt).toMatchObject({ aborted: 1, acknowledged: 0, done: false });
    release[0]!();
    await until(async () => {
      await kit.owners.resume();
      return (await kit.owners.receipt(receipt.cancelId))!.done;
    }, 'the run has ended');
  });

  it('previews a cancel without an effect', async () => {
    // When a run ends, its worker fetches a job, and the gate refuses jobs that the clean-up has not removed yet.
    const mayEnd = defer();
    kit.worker(() => mayEnd.promise, { concurrency: 1 });
    const [audio, video] = [kit.queue('audio'), kit.queue('video')];
    const opts = { owners: ['track:1'] };
    await audio.add('runs', {}, opts);
    await until(async () => (await audio.getActiveCount()) === 1, 'it runs');
    await audio.addBulk(Array.from({ length: 250 }, () => ({ name: 'x', data: {}, opts })));
    await video.add('later', {}, { ...opts, delay: 60_000 });
    await video.add('other', {}, { owners: ['track:2'] });
    // The worker would fetch jobs of the second page, and the gate would refuse them.
    await audio.pause();
    const before = await dump();

    const preview = await kit.owners.cancel('track:1', { dryRun: true });

    expect(await dump()).toEqual(before);
    const receipt = await kit.owners.cancel('track:1');
    expect(preview).toMatchObject({ dryRun: true, late: false, done: false, removed: 251, aborted: 1 });
    expect(receipt.byQueue).toMatchObject(preview.byQueue);
    expect(await kit.owners.cancel('ghost:1', { dryRun: true })).toMatchObject({ removed: 0, aborted: 0 });
    mayEnd.resolve();
  });

  it('removes at most 100 jobs in one step, however many a page of the index has', async () => {
    const jobs = Array.from({ length: 350 }, () => ({ name: 'x', data: {}, opts: { owners: ['track:1'] } }));
    await kit.queue().addBulk(jobs);
    const left = async () =>
      (await kit.redis.hkeys(`${kit.prefix}~owner~track:1`)).filter((field) => field.includes(':')).length;

    await kit.cancelAndDie('track:1', 'c1');
    const steps = [350 - (await left())];
    const store = kit.owners['at'].store as OwnerStore;
    for (let cursor = '0', next = ''; next !== '0'; cursor = next === 'rest' ? cursor : next) {
      const before = await left();
      [next] = await store.run<[string]>('clean', store.receiptOf('c1'), ['c1', cursor]);
      if (next !== '0') steps.push(before - (await left()));
    }

    expect(Math.max(...steps)).toBe(100);
    expect(await kit.queue().count()).toBe(0);
    expect(await kit.owners.resume()).toBe(0);
    expect(await kit.owners.receipt('c1')).toMatchObject({ removed: 350, done: true });
  });

  it('records the jobs that it removes only if asked to', async () => {
    const opts = { owners: ['track:1'], jobId: 'a' };
    await kit.queue().add('cut', {}, opts);
    await kit.owners.cancel('track:1', { close: false });
    expect(await kit.redis.keys(`${kit.prefix}~gone*`)).toEqual([]);

    await kit.redis.set(`${kit.prefix}~remembers-jobs`, '1');
    const { timestamp } = await kit.queue().add('cut', {}, opts);
    await kit.owners.cancel('track:1', { cancelId: 'c-1' });
    const line = await kit.redis.hget(`${kit.prefix}~gone~audio`, 'a');
    expect(line!.split('\n').slice(1, 7)).toEqual([
      'cancelled',
      'waiting',
      'track:1',
      'c-1',
      'cut',
      `${timestamp}`,
    ]);
  });

  /** Writes what BullMQ writes when it hands a job to a worker. Returns the key of the lock. */
  async function giveToWorker(ref: string): Promise<string> {
    const job = `${kit.prefix}:${ref}`;
    await kit.redis.hset(job, 'processedOn', Date.now());
    await kit.redis.set(`${job}:lock`, 'run');
    return `${job}:lock`;
  }

  async function contentOf(key: string): Promise<unknown> {
    const { redis } = kit;
    switch (await redis.type(key)) {
      case 'hash':
        return redis.hgetall(key);
      case 'zset':
        return redis.zrange(key, '0', '-1', 'WITHSCORES');
      case 'list':
        return redis.lrange(key, 0, -1);
      case 'set':
        return (await redis.smembers(key)).toSorted();
      default:
        return redis.get(key);
    }
  }

  /** The keys of owners and jobs, without locks and keys that workers write at any time. */
  async function dump(): Promise<Record<string, unknown>> {
    const keys = (await kit.redis.keys(`${kit.prefix}*`)).filter(
      (key) => !/:(lock|marker|stalled-check|events)$/.test(key),
    );
    return Object.fromEntries(
      await Promise.all(keys.toSorted().map(async (key) => [key, await contentOf(key)] as const)),
    );
  }

  it('previews a void, a repeated and a conflicting cancel as such', async () => {
    const queue = kit.queue();
    const happenedAt = Date.now() - 1_000;
    await kit.owners.reopen('track:1');
    await queue.add('x', {}, { owners: ['track:1'] });
    const seen = (await kit.owners.get('track:1'))!;
    await queue.add('x', {}, { owners: ['track:1'] });
    const preview = async (options: CancelOptions, facts?: SeenOwner) =>
      kit.owners.cancel('track:1', { ...options, dryRun: true }, facts);

    expect(await preview({ happenedAt })).toMatchObject({ late: true, removed: 0 });
    expect(await preview({}, seen)).toMatchObject({ late: true, removed: 0 });
    expect(await preview({ happenedAt: Date.now() + 1_000 })).toMatchObject({ late: false, removed: 2 });
    await kit.owners.cancel('track:1', { cancelId: 'c1' });
    expect(await preview({ cancelId: 'c1' })).toMatchObject({ cancelId: 'c1', removed: 2, done: true });
    await expect(kit.owners.cancel('track:2', { cancelId: 'c1', dryRun: true })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
    await expect(kit.owners.cancelJob('audio', '7', { dryRun: true })).rejects.toMatchObject({
      code: 'INVALID',
    });
  });

  it('finishes the clean-up of a process that was killed', async () => {
    const queue = kit.queue();
    await queue.addBulk(
      Array.from({ length: 700 }, () => ({ name: 'x', data: {}, opts: { owners: ['track:1'] } })),
    );
    const store = kit.owners['at'].store as OwnerStore;
    // The first step of a cancel, after which its process is killed.
    await store.run('cancel', `${kit.prefix}~owner~track:1`, [
      'track:1',
      'c1',
      '1',
      '',
      '',
      60_000,
      '',
      '',
      '',
      100,
      '',
      '',
    ]);
    expect(await queue.count()).toBeGreaterThan(0);

    expect((await kit.owners.openReceipts()).map(({ cancelId }) => cancelId)).toEqual(['c1']);
    await kit.owners.resume();

    expect(await queue.count()).toBe(0);
    expect(await kit.owners.receipt('c1')).toMatchObject({ removed: 700, done: true });
    expect(await kit.owners.openReceipts()).toEqual([]);
  });

  it('finishes a clean-up behind a hundred with unfinished runs, and behind one that fails', async () => {
    const queue = kit.queue();
    const slow = Array.from({ length: 100 }, (_, i) => `slow:${i}`);
    const runs = await queue.addBulk(
      slow.map((owner) => ({ name: 'x', data: {}, opts: { owners: [owner] } })),
    );
    await Promise.all(runs.map(({ id }) => giveToWorker(`audio:${id}`)));
    for (const owner of slow) await kit.owners.cancel(owner, { close: false });
    await queue.addBulk(
      Array.from({ length: 700 }, () => ({ name: 'x', data: {}, opts: { owners: ['track:1'] } })),
    );
    await kit.cancelAndDie('track:1', 'last');
    await kit.redis.zadd(`${kit.prefix}~cancels`, 0, 'broken');
    await kit.redis.set(`${kit.prefix}~receipt~broken`, 'no receipt');

    await expect(kit.owners.resume()).rejects.toMatchObject({
      message: '1 of 102 cancels could not be cleaned up.',
      errors: [{ message: expect.stringContaining('WRONGTYPE') }],
    });

    expect(await kit.owners.receipt('last')).toMatchObject({ removed: 700, done: true });
  });

  it('has no history entry for a job that had ended when it was removed', async () => {
    const queue = kit.queue();
    kit.worker(async () => undefined);
    const opts = { owners: ['track:1', 'user:1'] };
    await queue.addBulk(Array.from({ length: 3 }, () => ({ name: 'x', data: {}, opts })));
    await until(async () => (await queue.getCompletedCount()) === 3, 'all completed');
    const waiting = await queue.add('x', {}, { ...opts, delay: 60_000 });

    await queue.clean(0, 100, 'completed');
    await queue.remove(waiting.id!);

    expect(await queue.getJobCounts('completed', 'delayed')).toEqual({ completed: 0, delayed: 0 });
    for (const owner of opts.owners)
      expect(await kit.owners.history(owner)).toMatchObject([{ reason: 'removed', id: waiting.id }]);
    await kit.nothingLeft();
  });

  it('is not done while a run of its first page continues, however many pages follow', async () => {
    const opts = { owners: ['track:1'] };
    await kit.queue().addBulk(Array.from({ length: 600 }, () => ({ name: 'x', data: {}, opts })));
    const [, firstPage] = await kit.redis.hscan(`${kit.prefix}~owner~track:1`, 0, 'COUNT', 100);
    const lock = await giveToWorker(firstPage.find((field) => field.startsWith('audio:'))!);

    expect(await kit.owners.cancel('track:1')).toMatchObject({ done: false, removed: 599, aborted: 1 });

    expect(await kit.owners.openReceipts()).toHaveLength(1);
    await kit.redis.del(lock);
    await until(async () => (await kit.owners.resume()) === 0, 'it is done');
  });

  it('of one job is not done while its run continues, however many jobs are below it', async () => {
    const children = Array.from({ length: 300 }, () => ({ name: 'x', queueName: 'audio', data: {} }));
    const top = { name: 'top', queueName: 'audio', data: {}, opts: { owners: ['track:1'] } };
    const { job } = await kit.flows().add({ ...top, children });
    const lock = await giveToWorker(`audio:${job.id}`);

    expect(await kit.owners.cancelJob('audio', job.id!)).toMatchObject({ done: false, aborted: 1 });

    await kit.redis.del(lock);
    await until(async () => (await kit.owners.resume()) === 0, 'it is done');
  });

  it('lists owners by type, prefix and state, in pages', async () => {
    const queue = kit.queue();
    const names = ['trip:1', 'trip:10', 'trip:2', 'user:1'];
    await queue.addBulk(names.map((name) => ({ name: 'x', data: {}, opts: { owners: [name] } })));
    await kit.owners.cancel('trip:9');
    const list = async (options = {}) => (await kit.owners.list(options)).owners.map(({ owner }) => owner);

    expect(await list()).toEqual(['trip:1', 'trip:10', 'trip:2', 'trip:9', 'user:1']);
    expect(await list({ type: 'user' })).toEqual(['user:1']);
    expect(await list({ prefix: 'trip:1' })).toEqual(['trip:1', 'trip:10']);
    expect(await list({ state: 'closed' })).toEqual(['trip:9']);
    const first = await kit.owners.list({ limit: 2 });
    expect(first.cursor).toBe('trip:10');
    expect(await list({ cursor: first.cursor, limit: 9 })).toEqual(['trip:2', 'trip:9', 'user:1']);
  });

  it('lists the receipts of cancels in pages, the newest first, and those that are open', async () => {
    const queue = kit.queue();
    const run = defer();
    kit.worker(() => run.promise, { stopGrace: 60_000 });
    await queue.add('x', {}, { owners: ['track:9'] });
    await until(async () => (await queue.getActiveCount()) === 1, 'it runs');
    for (const n of [1, 2, 3, 4]) await kit.owners.cancel(`user:${n}`, { cancelId: `c-${n}` });
    await kit.owners.cancel('track:9', { cancelId: 'open' });
    const idsOf = ({ receipts }: ReceiptList): string[] => receipts.map(({ cancelId }) => cancelId);

    const first = await kit.owners.listReceipts({ limit: 3 });
    await kit.owners.cancel('user:5', { cancelId: 'c-5' });
    const rest = await kit.owners.listReceipts({ limit: 3, cursor: first.cursor });

    expect([idsOf(first), idsOf(rest), rest.cursor]).toEqual([
      ['open', 'c-4', 'c-3'],
      ['c-2', 'c-1'],
      undefined,
    ]);
    expect(idsOf(await kit.owners.listReceipts({ open: true }))).toEqual(['open']);
    expect(idsOf(await kit.owners.listReceipts({ open: false }))).toEqual([
      'c-5',
      'c-4',
      'c-3',
      'c-2',
      'c-1',
    ]);
    run.resolve();
    await until(async () => {
      await kit.owners.resume();
      return (await kit.owners.listReceipts({ open: true })).receipts.length === 0;
    }, 'it is done');
  });

  it('shows the jobs of an owner and their states', async () => {
    kit.worker(untilStopped, { concurrency: 1 });
    const queue = kit.queue();
    await queue.add('running', {}, { owners: ['track:1'] });
    await until(async () => (await queue.getActiveCount()) > 0, 'it runs');
    await queue.add('waiting', {}, { owners: ['track:1'] });
    await queue.add('delayed', {}, { owners: ['track:1'], delay: 60_000 });

    const view = await kit.owners.get('track:1');

    expect(view).toMatchObject({ owner: 'track:1', state: 'open', count: 3 });
    expect(Object.fromEntries(view!.jobs.map(({ name, state }) => [name, state]))).toEqual({
      running: 'running',
      waiting: 'waiting',
      delayed: 'delayed',
    });
    await kit.owners.cancel('track:1');
  });

  it('counts the runs of an owner, and its cancelled jobs that still exist', async () => {
    let end!: () => void;
    const ended = new Promise<void>((resolve) => (end = resolve));
    kit.worker(() => ended, { concurrency: 3 });
    const queue = kit.queue();
    const owners = ['track:1'];
    await queue.addBulk(Array.from({ length: 3 }, () => ({ name: 'runs', data: {}, opts: { owners } })));
    await until(async () => (await queue.getActiveCount()) === 3, 'they run');
    const delayed = { name: 'x', data: {}, opts: { owners, delay: 60_000 } };
    await queue.addBulk(Array.from({ length: 2_500 }, () => delayed));

    expect(await kit.owners.underWay('track:1')).toEqual({ running: 3, ending: 0 });
    await kit.owners.cancel('track:1', { close: false });
    expect(await kit.owners.underWay('track:1')).toEqual({ running: 3, ending: 3 });

    end();
    await until(async () => (await kit.owners.underWay('track:1')).running === 0, 'they have stopped');
    expect(await kit.owners.underWay('track:1')).toEqual({ running: 0, ending: 0 });
  });

  it('shows that a job has begun whose worker was killed', async () => {
    const queue = kit.queue();
    const { id } = await queue.add('dead', {}, { owners: ['track:1'] });
    await queue.add('waiting', {}, { owners: ['track:1'] });
    await kit.worker(null).getNextJob('token');
    await kit.redis.del(`${kit.prefix}:audio:${id}:lock`);

    const { jobs } = (await kit.owners.get('track:1'))!;

    expect(Object.fromEntries(jobs.map(({ name, hasBegun }) => [name, hasBegun]))).toEqual({
      dead: true,
      waiting: false,
    });
    await kit.owners.cancel('track:1');
  });
});
