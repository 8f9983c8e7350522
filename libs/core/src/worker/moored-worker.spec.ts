import { setTimeout as pause } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { MooredBackend } from '../backend/moored-backend.js';
import { CoreKit, until } from '../../../../test/support/core-kit.js';
import { MooredWorker } from './moored-worker.js';

const LONG_MS = 600_000;

describe('MooredWorker', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  /** A processor that runs until it is told to stop. */
  function untilStopped(runs: { reason?: unknown }[] = []) {
    return (_job: Job, _token?: string, signal?: AbortSignal) =>
      new Promise<void>((_, reject) => {
        const run: { reason?: unknown } = {};
        runs.push(run);
        signal!.addEventListener('abort', () => {
          run.reason = signal!.reason;
          reject(new Error('stopped'));
        });
      });
  }

  /** The id of the connection on which a worker waits for jobs. */
  async function waitingConnection(): Promise<string | undefined> {
    const clients = String(await kit.redis.client('LIST')).split('\n');
    const waiting = clients.find(
      (each) => each.includes(`name=${kit.prefix}:`) && each.includes('cmd=bzpopmin'),
    );
    return /\bid=(\d+)/.exec(waiting ?? '')?.[1];
  }

  it('runs jobs with owners, shows the owners to the processor, and removes the entries at the end', async () => {
    const ran: unknown[] = [];
    kit.worker(async (job) => {
      ran.push(job.data, job.opts.owners);
    });

    await kit.queue().add('x', { n: 1 }, { owners: ['track:a|b', 'user:2'] });

    await until(() => ran.length === 2, 'it ran');
    expect(ran).toEqual([{ n: 1 }, ['track:a|b', 'user:2']]);
    await kit.nothingLeft();
  });

  it('runs jobs of a plain producer as BullMQ does', async () => {
    const ran: unknown[] = [];
    kit.worker(async (job) => ran.push(job.data.n));

    await kit.plainQueue().addBulk([1, 2, 3].map((n) => ({ name: 'x', data: { n } })));

    await until(() => ran.length === 3, 'all ran');
    await until(async () => (await kit.plainQueue().getCompletedCount()) === 3, 'all completed');
    expect(ran).toEqual([1, 2, 3]);
  });

  it('runs a processor that returns without a promise', async () => {
    kit.worker((() => 'answer') as never);

    const job = await kit.queue().add('x', {}, { owners: ['track:1'] });

    await until(async () => (await job.getState()) === 'completed', 'it completed');
    expect((await kit.queue().getJob(job.id!))?.returnvalue).toBe('answer');
    await kit.nothingLeft();
  });

  it('completes a run even if an earlier ended job cannot be removed', async () => {
    const completed: unknown[] = [];
    kit.worker(async () => 'done').on('completed', (job) => completed.push(job.id));
    const add = (jobId: string) =>
      kit.queue().add('x', {}, { owners: ['track:1'], jobId, removeOnComplete: { count: 1 } });
    await add('old');
    await until(() => completed.length === 1, 'the old one completed');
    await kit.redis.set(`${kit.prefix}:audio:old`, 'no hash');

    await add('new');

    await until(() => completed.length === 2, 'the new one completed');
    expect(completed).toEqual(['old', 'new']);
    await kit.nothingLeft();
  });

  it('opens its connection for cancels when it starts to run, not before', async () => {
    const duplicate = vi.spyOn(kit.redis, 'duplicate');
    const worker = kit.worker(async () => undefined, { autorun: false });
    await worker.waitUntilReady();
    expect(duplicate).toHaveBeenCalledTimes(1);

    void worker.run();

    expect(duplicate).toHaveBeenCalledTimes(2);
  });

  it('closes while the connection on which it waits for jobs is about to reconnect', async () => {
    const connection = kit.redis.duplicate({ retryStrategy: () => LONG_MS });
    const worker = new MooredWorker('audio', async () => undefined, { prefix: kit.prefix, connection });
    worker.on('error', () => undefined);
    try {
      const waiting = await until(waitingConnection, 'it waits for jobs');
      await kit.redis.client('KILL', 'ID', waiting);
      const { blockingConnection } = worker['backend'] as unknown as MooredBackend;
      const client = await blockingConnection!.client;
      await until(() => client.status === 'reconnecting', 'it waits to reconnect');

      await worker.close();
    } finally {
      connection.disconnect();
    }
  });

  it('closes even if its store was never reachable', async () => {
    const connection = new Redis(1, '127.0.0.1', { maxRetriesPerRequest: null });
    connection.on('error', () => undefined);
    const worker = new MooredWorker('audio', async () => undefined, { prefix: kit.prefix, connection });
    worker.on('error', () => undefined);
    try {
      await until(() => connection.status === 'reconnecting', 'it has failed to connect');

      await worker.close();
    } finally {
      connection.disconnect();
    }
  });

  it('gives jobs of a plain producer the owners that ownersOf names', async () => {
    const runs: { reason?: unknown }[] = [];
    kit.worker(untilStopped(runs), { ownersOf: (job) => [`track:${job.data.track}`] });
    await kit.plainQueue().add('x', { track: 7 });
    await until(() => runs.length === 1, 'it runs');

    const receipt = await kit.owners.cancel('track:7', { wait: 'drained' });

    expect(receipt).toMatchObject({ aborted: 1, acknowledged: 1, done: true });
    await kit.plainQueue().add('x', { track: 7 });
    await until(async () => (await kit.owners.history('track:7')).length === 2, 'the second was refused');
    expect(runs).toEqual([{ reason: 'cancelled' }]);
    expect(await kit.plainQueue().getJobCounts('failed', 'completed')).toEqual({ failed: 0, completed: 0 });
  });

  it('reports the plain jobs of a closed owner that it refused, and continues with the next job', async () => {
    await kit.owners.cancel('track:1');
    const ran: number[] = [];
    const refused: string[] = [];
    const worker = kit.worker(async ({ data }) => ran.push(data.track), {
      ownersOf: ({ data }) => [`track:${data.track}`],
    });
    worker.on('refused', ({ reason }) => refused.push(reason));

    await kit.plainQueue().addBulk([1, 1, 2].map((track) => ({ name: 'x', data: { track } })));

    await until(() => ran.length === 1, 'the job of the other owner has run');
    expect({ ran, refused }).toEqual({ ran: [2], refused: ['cancelled', 'cancelled'] });
  });

  it('stops a running job of a cancelled owner within moments, without counting a failure', async () => {
    const runs: { reason?: unknown }[] = [];
    const events: string[] = [];
    const worker = kit.worker(untilStopped(runs), { lockDuration: 60_000 });
    for (const event of ['completed', 'failed', 'cancelled'] as const)
      worker.on(event as 'failed', () => events.push(event));
    const queue = kit.queue();
    await queue.add('x', {}, { owners: ['track:1'], attempts: 3 });
    await until(() => runs.length === 1, 'it runs');

    const receipt = await kit.owners.cancel('track:1');

    expect(receipt).toMatchObject({ removed: 0, aborted: 1 });
    await until(() => events.length > 0, 'it ended');
    expect(events).toEqual(['cancelled']);
    expect(runs).toEqual([{ reason: 'cancelled' }]);
    expect(await queue.getJobCounts()).toMatchObject({ failed: 0, completed: 0, active: 0, delayed: 0 });
  });

  it('detects a cancel at the renewal of its locks when every message is lost', async () => {
    const runs: { reason?: unknown }[] = [];
    kit.worker(untilStopped(runs), { lockDuration: 1_000 });
    await kit.queue().add('x', {}, { owners: ['track:1'] });
    await until(() => runs.length === 1, 'it runs');
    await kit.redis.set(`${kit.prefix}~cancelled`, 'not a stream');

    await kit.owners.cancel('track:1');

    await until(() => runs[0]!.reason !== undefined, 'it was told to stop');
  });

  it('refuses the result of a run whose owner was cancelled in the meantime', async () => {
    const finish: ((result: string) => void)[] = [];
    const events: string[] = [];
    const worker = kit.worker(() => new Promise((resolve) => finish.push(resolve)));
    for (const event of ['completed', 'failed', 'cancelled'] as const)
      worker.on(event as 'failed', () => events.push(event));
    const queue = kit.queue();
    const job = await queue.add('x', {}, { owners: ['track:1'] });
    await until(() => finish.length === 1, 'it runs');

    await kit.owners.cancel('track:1');
    finish[0]!('late');

    await until(() => events.length > 0, 'it ended');
    expect(events).toEqual(['cancelled']);
    expect(await queue.getJob(job.id!)).toBeUndefined();
  });

  it('reports a run as cancelled if its processor tried to delay the job', async () => {
    const events: string[] = [];
    const refusals: unknown[] = [];
    let delayIt: (() => void) | undefined;
    const worker = kit.worker(async (job, token) => {
      await new Promise<void>((resolve) => (delayIt = resolve));
      await job.moveToDelayed(Date.now() + LONG_MS, token).catch((error: unknown) => {
        refusals.push(error);
        throw error;
      });
    });
    for (const event of ['failed', 'cancelled', 'lost'] as const)
      worker.on(event as 'failed', () => events.push(event));
    const { id } = await kit.queue().add('x', {}, { owners: ['track:1'] });
    await until(() => delayIt, 'it runs');

    await kit.owners.cancel('track:1');
    delayIt!();

    await until(() => events.length > 0, 'it ended');
    expect({ events, errors: kit.errors.splice(0) }).toEqual({ events: ['cancelled'], errors: [] });
    expect(refusals).toMatchObject([{ jobId: id }]);
  });

  it("reports a run that has lost its lock with BullMQ's message, and continues", async () => {
    const finish: (() => void)[] = [];
    const lost: Job[] = [];
    const worker = kit.worker(() => new Promise<void>((resolve) => finish.push(resolve)), { concurrency: 1 });
    worker.on('lost' as 'completed', (job) => lost.push(job));
    const job = await kit.queue().add('x', {}, { owners: ['track:1'] });
    await until(() => finish.length === 1, 'it runs');

    await kit.redis.del(`${kit.prefix}:audio:${job.id}:lock`);
    await kit.queue().add('next', {}, { owners: ['track:1'] });
    finish[0]!();

    await until(() => finish.length === 2, 'the next one runs');
    expect(lost.map(({ id }) => id)).toEqual([job.id]);
    expect(kit.errors.splice(0)).toMatchObject([
      { message: `Missing lock for job ${job.id}. moveToFinished`, code: -2 },
    ]);
    finish[1]!();
  });

  it('abandons a run that does not stop within its grace', async () => {
    const events: string[] = [];
    const worker = kit.worker(() => new Promise(() => undefined), { stopGrace: 100 });
    worker.on('cancelled' as 'drained', () => events.push('cancelled'));
    await kit.queue().add('x', {}, { owners: ['track:1'] });
    await until(async () => (await kit.queue().getActiveCount()) === 1, 'it runs');

    const receipt = await kit.owners.cancel('track:1', { wait: 'drained' });

    expect(receipt.done).toBe(true);
    await until(() => events.length === 1, 'it ended');
  });

  it('tells a run to stop at its timeout, and retries it if attempts are left', async () => {
    const runs: { reason?: unknown }[] = [];
    kit.worker(untilStopped(runs), { runTimeout: 50 });
    const job = await kit.queue().add('x', {}, { owners: ['track:1'], attempts: 2 });

    await until(async () => (await job.getState()) === 'failed', 'it failed');

    expect(runs).toEqual([{ reason: 'timeout' }, { reason: 'timeout' }]);
    await kit.nothingLeft();
  });

  it('bounds a run by the limits of its job', async () => {
    const runs: { reason?: unknown }[] = [];
    const limitsOf = ({ name }: { name: string }) => (name === 'short' ? { runTimeoutMs: 20 } : undefined);
    kit.worker(untilStopped(runs), { limitsOf, runTimeout: LONG_MS });

    const job = await kit.queue().add('short', {}, { owners: ['track:1'] });

    await until(async () => (await job.getState()) === 'failed', 'its time was over');
    expect(runs).toEqual([{ reason: 'timeout' }]);
  });

  it('never runs more jobs of a slot than its limit, runs them in order, and does not delay other jobs', async () => {
    let running = 0;
    let most = 0;
    const order: number[] = [];
    kit.worker(
      async (job) => {
        if (job.name === 'other') return;
        order.push(job.data.i);
        most = Math.max(most, (running += 1));
        await pause(5);
        running -= 1;
      },
      { concurrency: 10 },
    );
    const queue = kit.queue();
    const slot = { key: 'gpu', limit: 2 };
    const other = Array.from({ length: 20 }, () => ({
      name: 'other',
      data: {},
      opts: { owners: ['other:1'] },
    }));
    const slotted = Array.from({ length: 30 }, (_, i) => ({
      name: 'x',
      data: { i },
      opts: { owners: [`s:${i}`], slot },
    }));

    await queue.addBulk([...slotted, ...other]);

    await until(() => order.length === 30, 'all ran');
    expect(most).toBe(2);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    await kit.nothingLeft();
  });

  it('fetches a job that was woken for its slot before all others, because the slot is unused meanwhile', async () => {
    const order: string[] = [];
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    kit.worker(
      async ({ name }) => {
        order.push(name);
        if (name === 'holder') await released;
        else await pause(5);
      },
      { concurrency: 2 },
    );
    const queue = kit.queue();
    const slotted = { owners: ['s:1'], slot: { key: 'gpu', limit: 1 } };
    await queue.add('holder', {}, slotted);
    await until(() => order.length === 1, 'the slot is held');
    await queue.add('woken', {}, { ...slotted, priority: 9 });
    await until(async () => (await queue.getDelayedCount()) === 1, 'it stands in line');
    const others = Array.from({ length: 50 }, () => ({ name: 'other', data: {}, opts: { owners: ['o:1'] } }));

    await queue.addBulk(others);
    release();

    await until(() => order.length === 52, 'all ran');
    expect(order.indexOf('woken')).toBeLessThan(40);
    await kit.nothingLeft();
  });

  it('runs one job of a deduplication key at a time, and one after every trigger', async () => {
    let running = 0;
    let most = 0;
    const starts: number[] = [];
    kit.worker(async () => {
      starts.push(performance.now());
      most = Math.max(most, (running += 1));
      await pause(15);
      running -= 1;
    });
    const queue = kit.queue();
    let lastTrigger = 0;
    for (let i = 0; i < 30; i += 1) {
      await queue.enqueue('build', {}, { owners: ['site:1'], dedup: { strategy: 'skip', key: 'k' } });
      lastTrigger = performance.now();
      await pause(4);
    }

    await until(() => starts.at(-1)! > lastTrigger && running === 0, 'a run began after the last trigger');
    expect(most).toBe(1);
    expect(starts.length).toBeLessThan(30);
    await kit.nothingLeft();
  });

  it('starts no job after its deadline, and records that in the history', async () => {
    const queue = kit.queue();
    const ran: string[] = [];
    await queue.add('late', {}, { owners: ['track:1'], expiresIn: 1 });
    await queue.add('in time', {}, { owners: ['track:1'], expiresIn: '5m' });
    await pause(5);
    kit.worker(async (job) => ran.push(job.name));

    await until(() => ran.length > 0, 'one ran');
    await kit.nothingLeft();
    expect(ran).toEqual(['in time']);
    expect(await kit.owners.history('track:1')).toMatchObject([{ reason: 'expired', queue: 'audio' }]);
    expect(await queue.getFailedCount()).toBe(0);
  });

  it('retries a failed job under the present epochs, and keeps its error if an owner is closed', async () => {
    let runs = 0;
    kit.worker(async () => {
      runs += 1;
      throw new Error(`no ${runs}`);
    });
    const queue = kit.queue();
    const { id } = await queue.add('x', {}, { owners: ['track:1'] });
    await until(async () => (await queue.getFailedCount()) > 0, 'it failed');
    await kit.nothingLeft();

    await (await kit.plainQueue().getJob(id!))!.getState();
    await (await queue.getJob(id!))!.retry();
    await until(async () => runs === 2 && (await queue.getFailedCount()) === 1, 'it ran again');
    await kit.nothingLeft();
    await kit.owners.cancel('track:1');
    await expect((await queue.getJob(id!))!.retry()).rejects.toMatchObject({ code: 'OWNER_CLOSED' });

    expect((await queue.getJob(id!))!.failedReason).toBe('no 2');
    expect(await queue.getFailedCount()).toBe(1);
  });

  it('hands its runs to other workers at shutdown, without counting an attempt', async () => {
    const runs: { reason?: unknown }[] = [];
    const worker = kit.worker(untilStopped(runs));
    const queue = kit.queue();
    const { id } = await queue.add('x', {}, { owners: ['track:1'], attempts: 1 });
    await until(() => runs.length === 1, 'it runs');

    await worker.shutdown({ finishWithin: 10 });

    expect(runs).toEqual([{ reason: 'shutdown' }]);
    expect(await queue.getJob(id!)).toMatchObject({ attemptsMade: 0 });
    const done: string[] = [];
    kit.worker(async (job) => done.push(job.id!));
    await until(() => done.length === 1, 'another worker ran it');
    await kit.nothingLeft();
  });

  it('reports a run as cancelled if its job could not be handed back', async () => {
    const events: string[] = [];
    const runs: { reason?: unknown }[] = [];
    const worker = kit.worker(untilStopped(runs));
    worker.on('cancelled', () => events.push('cancelled'));
    await kit.queue().add('x', {}, { owners: ['track:1'] });
    await until(() => runs.length === 1, 'it runs');
    await kit.redis.set(`${kit.prefix}~cancelled`, 'not a stream');
    await kit.owners.cancel('track:1');

    await worker.shutdown({ finishWithin: 0 });

    expect(runs).toEqual([{ reason: 'shutdown' }]);
    expect({ events, errors: kit.errors.splice(0) }).toEqual({ events: ['cancelled'], errors: [] });
  });

  it('hands back a job that is fetched while it shuts down', async () => {
    const runs: { reason?: unknown }[] = [];
    const worker = kit.worker(untilStopped(runs), { autorun: false, concurrency: 1 });
    const queue = kit.queue();
    const { id } = await queue.add('x', {}, { owners: ['track:1'], attempts: 1 });
    const backend = worker['backend'];
    const fetch = backend.moveToActive.bind(backend);
    let answer: (() => void) | undefined;
    backend.moveToActive = async (...args) => {
      const job = await fetch(...args);
      await new Promise<void>((resolve) => (answer = resolve));
      return job;
    };
    worker.run().catch((error: Error) => kit.errors.push(error));
    await until(() => answer, 'the job is fetched');

    const down = worker.shutdown({ finishWithin: 0 });
    await until(() => worker.closing !== undefined, 'it closes');
    answer!();
    await down;

    expect(runs).toEqual([]);
    expect(await (await queue.getJob(id!))!.getState()).toBe('prioritized');
    expect(await queue.getJob(id!)).toMatchObject({ attemptsMade: 0 });
  });

  it('runs a processor file in a process of its own', async () => {
    const file = new URL('../../../../test/support/core-processor.mjs', import.meta.url);
    kit.worker(file as never);
    const queue = kit.queue();
    const job = await queue.add('x', { n: 20 }, { owners: ['track:1'] });

    await until(async () => (await queue.getJob(job.id!))?.returnvalue === 21, 'it ran');
    await kit.nothingLeft();
  });

  it('does not run a job again that was cancelled while its worker ran it and was then killed', async () => {
    const queue = kit.queue();
    const job = await queue.add('x', {}, { owners: ['track:1'] });
    const dead = kit.worker(null as never, { autorun: false });
    await dead.getNextJob('token');
    await kit.owners.cancelJob('audio', job.id!);
    await kit.redis.del(`${kit.prefix}:audio:${job.id}:lock`);
    let runs = 0;

    kit.worker(async () => (runs += 1), { stalledInterval: 100 });

    await until(async () => (await job.getState()) === 'unknown', 'it has ended');
    expect(runs).toBe(0);
  });
});
