import {
  Canceller,
  defineKind,
  Enqueuer,
  Handler,
  Handles,
  JobReader,
  owner,
  RunningJobs,
  RunTimedOut,
  type JobView,
  type JobViewState,
  type Kind,
  type Owner,
  type Run,
} from '#lifecycle';
import { Injectable, Scope, type Provider, type Type } from '@nestjs/common';
import { Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { cancelByScript, recordOf } from '../support/cancel-door.js';
import { defer } from '../support/defer.js';
import { LifecycleApp } from '../support/lifecycle-app.js';
import { scriptText } from '../support/script-text.js';
import { until } from '../support/until.js';

const TRIP = owner('trip', '42');
const LOCK_MS = 2_000;

describe('a run', () => {
  let app: LifecycleApp;
  let queue: Queue;
  afterEach(async () => {
    await queue.close();
    await app.stop();
  });

  /** An application with one kind, whose handler does what the test says. */
  async function start(
    options: Partial<Parameters<typeof defineKind>[0]>,
    handle: (run: Run) => unknown,
    worker = {},
  ): Promise<Kind> {
    const kind = defineKind({ name: 'thing.do', queue: 'things', payload: z.object({}), ...options });
    app = await LifecycleApp.start([kind], [handlerOf(kind, handle)], { lockMs: LOCK_MS, ...worker });
    queue = new Queue('things', { connection: app.redis, prefix: `{${app.prefix}}` });
    return kind;
  }

  it('commits its result once, and leaves nothing else', async () => {
    const fences: string[] = [];
    const kind = await start({}, (run) => {
      fences.push(run.fence);
      return { made: 'this' };
    });
    const id = await enqueue(kind);
    expect(await ended(id)).toMatchObject({ state: 'completed', result: { made: 'this' }, attempts: 1 });
    expect(fences).toEqual(['1']);
  });

  it('reports its progress, and says nothing more once it is abandoned', async () => {
    const late = defer();
    const said = defer();
    const kind = await start({ timeout: '100ms', grace: '50ms', attempts: 2 }, async (run) => {
      if (run.attempt === 2) return 'second';
      await run.progress(10);
      await late.promise;
      await run.progress(99).then(said.resolve, said.reject);
      return 'first';
    });
    const id = await enqueue(kind);
    await ended(id);
    late.resolve();
    await said.promise;
    expect(await view(id)).toMatchObject({ state: 'completed', progress: 10, result: 'second' });
  });

  it('is not failed by progress that cannot be told', async () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const kind = await start({}, async (run) => {
      await run.progress(circle);
      await run.progress(50);
      return 'done';
    });
    const id = await enqueue(kind);
    expect(await ended(id)).toMatchObject({ state: 'completed', result: 'done', progress: 50 });
    expect(app.facts.filter(({ event }) => event === 'queue.error')).toHaveLength(1);
  });

  it('is said to have waited since its job was due; of a retry nobody knows', async () => {
    const kind = await start({ attempts: 2 }, (run) => {
      if (run.attempt === 1) throw new Error('not yet');
    });
    await queue.pause();
    const id = await enqueue(kind, { delay: '1h' });
    await (await queue.getJob(id))!.promote();
    await queue.resume();
    await ended(id);
    const began = app.facts.filter((fact) => fact.event === 'job.began');
    expect(began.map((fact) => fact.waitedMs)).toEqual([0, undefined]);
  });

  it('is not begun, and never tried again, when its payload is not one of its kind any more', async () => {
    const began: string[] = [];
    const kind = await start({ attempts: 5, backoff: ['10ms'] }, (run) => began.push(run.id));
    await queue.pause();
    const id = await enqueue(kind);
    const job = (await queue.getJob(id))!;
    await job.updateData({ ...(job.data as object), b: 'not an object' });
    await queue.resume();
    expect(await ended(id)).toMatchObject({
      state: 'failed',
      attempts: 1,
      error: expect.stringMatching(
        /^The payload of this job is not one of thing.do any more:\n.*expected object/,
      ),
    });
    expect(began).toEqual([]);
  });

  it('that takes too long is told so, and its attempt has failed', async () => {
    let reason: unknown;
    const kind = await start({ timeout: '100ms' }, (run) => {
      return new Promise((_, reject) => {
        run.signal.addEventListener('abort', () => {
          reason = run.signal.reason;
          reject(new Error('I was told to stop.'));
        });
      });
    });
    const id = await enqueue(kind);
    expect(await ended(id)).toMatchObject({
      state: 'failed',
      error: 'The run took longer than 100 ms.',
      attempts: 1,
    });
    expect(reason).toEqual(new RunTimedOut(100, 5_000));
  });

  it('that takes too long but ends within its grace still counts', async () => {
    const kind = await start({ timeout: '100ms', grace: '10s' }, (run) => {
      return new Promise((resolve) => run.signal.addEventListener('abort', () => resolve('in time')));
    });
    expect(await ended(await enqueue(kind))).toMatchObject({ state: 'completed', result: 'in time' });
  });

  it('that ignores its timeout is abandoned; what it makes later does not count, what the retry makes does', async () => {
    const late = defer<string>();
    const kind = await start({ timeout: '100ms', grace: '50ms', attempts: 2 }, (run) =>
      run.attempt === 1 ? late.promise : 'of the retry',
    );
    const id = await enqueue(kind);
    expect(await ended(id)).toMatchObject({ state: 'completed', result: 'of the retry', attempts: 2 });
    late.resolve('of the abandoned one');
    await late.promise;
    expect(await view(id)).toMatchObject({ state: 'completed', result: 'of the retry', attempts: 2 });
    expect(app.factsOf(id)).toEqual([
      'job.accepted',
      'job.began',
      'job.failed',
      'job.began',
      'job.completed',
    ]);
  });

  it('that fails is retried after the times of its list', async () => {
    const began: number[] = [];
    const kind = await start({ attempts: 4, backoff: ['50ms', '200ms', '450ms'] }, () => {
      began.push(Date.now());
      throw new Error('not yet');
    });
    const id = await enqueue(kind);
    expect(await ended(id)).toMatchObject({ state: 'failed', error: 'not yet', attempts: 4 });
    const gaps = began.slice(1).map((at, i) => at - began[i]!);
    // BullMQ's delays are whole milliseconds of its own clock reading; one may be lost to rounding.
    expect(gaps.map((gap, i) => gap >= [50, 200, 450][i]! - 1)).toEqual([true, true, true]);
  });

  it('that fails is retried ever later, with some of it left to chance', async () => {
    const kind = await start(
      { attempts: 4, backoff: { type: 'exponential', delay: '40ms', jitter: 0.5 } },
      () => {
        throw new Error('not yet');
      },
    );
    const delays: number[] = [];
    for (let i = 0; i < 50; i += 1) delays.push(kind.backoffMs(3));
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(80);
    expect(Math.max(...delays)).toBeLessThanOrEqual(160);
    expect(new Set(delays).size).toBeGreaterThan(5);
    expect(await ended(await enqueue(kind))).toMatchObject({ state: 'failed', attempts: 4 });
  });

  it('that fails is tried again at once, not after its own lease', async () => {
    const kind = await start({ attempts: 30 }, (run) => {
      if (run.attempt < 30) throw new Error('not yet');
      return run.attempt;
    });
    const id = await enqueue(kind);
    expect(await ended(id)).toMatchObject({ state: 'completed', result: 30, attempts: 30 });
    expect(app.factsOf(id)).not.toContain('job.put-off');
  });

  it('is told when its process ends, and its job is handed back at no attempt', async () => {
    const reasons: unknown[] = [];
    const kind = await start({}, (run) => {
      return new Promise((_, reject) => {
        run.signal.addEventListener('abort', () => {
          reasons.push((run.signal.reason as Error).name);
          reject(run.signal.reason as Error);
        });
      });
    });
    const id = await enqueue(kind);
    await until(() => app.factsOf(id).includes('job.began'), 'it runs');
    await app.context.close();
    expect(reasons).toEqual(['ShuttingDown']);
    const job = (await queue.getJob(id))!;
    expect([await job.getState(), job.attemptsMade]).toEqual(['prioritized', 0]);
    expect(await app.redis.exists(`${recordOf(app.prefix, 'trip:42')}:runs`)).toBe(0);
    // For the check that nothing is left: the next worker would have taken it from here.
    await job.remove();
    await app.redis.del(recordOf(app.prefix, 'trip:42'));
  });

  it('of a cancelled owner is told so within a renewal, ends cancelled, and is never tried again', async () => {
    const told = defer<{ at: number; why: string }>();
    const kind = await start({ attempts: 5, backoff: ['10ms'] }, (run) => {
      return new Promise((_, reject) => {
        run.signal.addEventListener('abort', () => {
          told.resolve({ at: performance.now(), why: (run.signal.reason as Error).name });
          reject(new Error('stopped'));
        });
      });
    });
    const id = await enqueue(kind);
    await until(() => app.factsOf(id).includes('job.began'), 'it runs');
    const cancelledAt = performance.now();
    const [word, , , ...runs] = await cancelByScript(app.redis, app.prefix, 'trip:42');
    expect([word, runs.map((run) => run.split('|')[0])]).toEqual(['cancelled', [id]]);

    const { at, why } = await told.promise;
    expect(why).toBe('OwnerCancelled');
    expect(at - cancelledAt).toBeLessThan(LOCK_MS / 4 + 500);
    const job = await ended(id);
    expect(job).toMatchObject({
      state: 'cancelled',
      result: null,
      error: 'its owner was cancelled while it ran',
    });
    expect(job.timeline.map(({ event }) => event)).toEqual(['accepted', 'began', 'aborted', 'cancelled']);
    expect(app.factsOf(id)).toEqual(['job.accepted', 'job.began', 'job.skipped']);
  });

  it('of a cancelled owner that ends before it hears of it has its result refused', async () => {
    const go = defer<string>();
    const kind = await start({ attempts: 5 }, () => go.promise);
    const id = await enqueue(kind);
    await until(() => app.factsOf(id).includes('job.began'), 'it runs');
    await cancelByScript(app.redis, app.prefix, 'trip:42');
    go.resolve('too late');
    expect(await ended(id)).toMatchObject({ state: 'cancelled', result: null });
  });

  it('is not begun for a job whose owner was cancelled while it waited', async () => {
    const kind = await start({}, () => 'ran');
    const id = await enqueue(kind, { delay: '1s' });
    await cancelByScript(app.redis, app.prefix, 'trip:42');
    expect(await ended(id)).toMatchObject({
      state: 'cancelled',
      attempts: 0,
      error: 'its owner was cancelled',
    });
    const after = await enqueue(kind);
    expect(await ended(after)).toMatchObject({ state: 'completed', result: 'ran' });
    expect(app.factsOf(id)).toEqual(['job.accepted', 'job.skipped']);
  });

  it('is not begun for a job that alone was cancelled, and keeps no later trigger away', async () => {
    const kind = await start({ dedup: { strategy: 'skip', key: 'k' } }, () => 'ran');
    const id = await enqueue(kind, { delay: '1s' });
    await cancelByScript(app.redis, app.prefix, 'trip:42', { job: id });
    expect(await ended(id)).toMatchObject({ state: 'cancelled', attempts: 0 });
    const receipt = await app.context.get(Canceller).cancelJob(id, { wait: 'drained' });
    expect(receipt).toMatchObject({ job: id, removed: 1, aborted: 0, done: true });
    const dedup = `${recordOf(app.prefix, 'trip:42')}:dedup`;
    expect(await app.redis.hvals(dedup)).toEqual([]);

    const next = await enqueue(kind);
    expect(next).not.toBe(id);
    expect(await ended(next)).toMatchObject({ state: 'completed' });
  });

  it('is not begun for a job whose owner has no record: it waits', async () => {
    const kind = await start({}, () => 'ran');
    const id = await enqueue(kind, { delay: '1s' });
    await app.redis.del(recordOf(app.prefix, 'trip:42'));
    await until(() => app.factsOf(id).includes('job.put-off'), 'it was put off');
    expect(await view(id)).toMatchObject({ state: 'delayed', attempts: 0 });
    // A worker that takes jobs, and has all of them wait, is not stuck.
    expect(app.context.get(RunningJobs).lastTakenAt('things')).toBeGreaterThan(0);

    // The record comes back by another job: with another epoch.
    expect(await ended(await enqueue(kind))).toMatchObject({ result: 'ran' });
    await (await queue.getJob(id))!.promote();
    expect(await ended(id)).toMatchObject({ state: 'cancelled', attempts: 0 });
    expect(app.factsOf(id)).toEqual(['job.accepted', 'job.put-off', 'job.skipped']);
  });

  it('that another owner than the primary has wait stays the pending one of its key', async () => {
    const kind = await start({ dedup: { strategy: 'skip', key: 'k' } }, () => 'ran');
    const owners = [TRIP, owner('user', '5')];
    const id = await enqueue(kind, { delay: '1s', owners });
    const record = recordOf(app.prefix, 'user:5');
    await app.redis.rename(record, `${record}:away`);
    await until(() => app.factsOf(id).includes('job.put-off'), 'it was put off');
    expect(await view(id)).toMatchObject({ state: 'delayed', attempts: 0 });
    expect(await app.redis.zcard(`${recordOf(app.prefix, 'trip:42')}:runs`)).toBe(0);
    const { length } = await app.redis.hvals(`${recordOf(app.prefix, 'trip:42')}:dedup`);
    expect(length).toBe(1);

    await app.redis.rename(`${record}:away`, record);
    await (await queue.getJob(id))!.promote();
    expect(await ended(id)).toMatchObject({ state: 'completed', result: 'ran' });
  });

  it.each([
    ['before it is done', 2],
    ['after it is done', 1],
  ] as const)(
    'is put off at no attempt when the store fails at its commit, %s, and is begun again only if it has to be',
    async (when, runs) => {
      const began: string[] = [];
      const kind = await start({ attempts: 1, dedup: { strategy: 'skip' } }, (run) => {
        began.push(run.id);
        return `run ${began.length}`;
      });
      failOnce(app.redis, scriptText('settle/commit'), when === 'after it is done');
      const id = await enqueue(kind);
      expect(await ended(id)).toMatchObject({ state: 'completed', result: `run ${runs}`, error: null });
      expect(began).toHaveLength(runs);
      expect(app.factsOf(id)).not.toContain('job.failed');
    },
  );

  it('whose job the store does not put off is begun again when its lock has ended, at no attempt', async () => {
    const kind = await start({ attempts: 1 }, () => 'ran');
    failOnce(app.redis, scriptText('gate/begin'), false);
    const putOff = vi.spyOn(Job.prototype, 'moveToDelayed').mockRejectedValueOnce(readOnly());
    const id = await enqueue(kind);
    expect(await ended(id)).toMatchObject({ state: 'completed', result: 'ran', error: null });
    expect(putOff).toHaveBeenCalledOnce();
    putOff.mockRestore();
    expect(app.factsOf(id)).not.toContain('job.failed');
  });

  it('is not begun for a job whose hash is gone', async () => {
    const began: string[] = [];
    const kind = await start({}, (run) => began.push(run.id));
    await queue.pause();
    const id = await enqueue(kind);
    await app.redis.del(`{${app.prefix}}:things:${id}`);
    await queue.resume();
    await until(async () => (await queue.getFailedCount()) === 1, 'it is refused');
    expect(await ended(await enqueue(kind))).toMatchObject({ state: 'completed' });
    expect(began).not.toContain(id);
    // Its owner is not known any more, so its entry is for the repair sweep to find.
    await app.redis.del(recordOf(app.prefix, 'trip:42'));
  });

  it.each([
    ['nothing', undefined],
    ['another program', { userId: 7 }],
    ['a bad envelope', { v: 1, o: 'trip:42', e: [] }],
    ['null', null],
  ])('is not begun for a job that carries %s', async (_, data) => {
    const began: string[] = [];
    const kind = await start({}, (run) => began.push(run.id));
    const foreign = await queue.add('thing.do', data);
    await until(async () => (await foreign.getState()) === 'failed', 'it is refused');
    const job = (await queue.getJob(foreign.id!))!;
    expect([job.attemptsMade, job.failedReason]).toEqual([
      1,
      `Job "${foreign.id}" in queue "things" has no envelope of ours: its data is gone or another program made it.`,
    ]);
    expect(await ended(await enqueue(kind))).toMatchObject({ state: 'completed' });
    expect(began).toHaveLength(1);
  });

  it('is not begun where nobody knows its kind: it waits for a worker that does', async () => {
    const kind = await start({}, () => 'ran');
    await queue.pause();
    const id = await enqueue(kind);
    await app.redis.hset(`{${app.prefix}}:things:${id}`, 'name', 'thing.new');
    await queue.resume();
    await until(() => app.factsOf(id).includes('job.put-off'), 'it was put off');
    expect((await queue.getJob(id))!.attemptsMade).toBe(0);
    await app.redis.hset(`{${app.prefix}}:things:${id}`, 'name', 'thing.do');
    await (await queue.getJob(id))!.promote();
    expect(await ended(id)).toMatchObject({ state: 'completed', attempts: 1 });
  });

  function enqueue(kind: Kind, options: { delay?: string; owners?: Owner[] } = {}): Promise<string> {
    const enqueuer = app.context.get(Enqueuer);
    return enqueuer.enqueue(kind, {}, { owners: [TRIP], ...(options as object) }).then(({ id }) => id);
  }

  function view(id: string): Promise<JobView | undefined> {
    return app.context.get(JobReader).read(id);
  }

  function ended(id: string): Promise<JobView> {
    const over: JobViewState[] = ['completed', 'failed', 'cancelled', 'expired', 'skipped'];
    return until(async () => {
      const job = await view(id);
      return job && over.includes(job.state) && job;
    }, `${id} has ended`);
  }
});

describe('a worker', () => {
  it('refuses to start with a request-scoped handler, and says why', async () => {
    const kind = defineKind({ name: 'thing.do', queue: 'things', payload: z.object({}) });
    @Injectable({ scope: Scope.REQUEST })
    @Handles(kind)
    class ScopedHandler extends Handler {
      async handle(): Promise<undefined> {
        return undefined;
      }
    }
    await expect(LifecycleApp.start([kind], [ScopedHandler])).rejects.toThrow(
      'ScopedHandler is request-scoped, so no abort signal can reach it. Make it a singleton.',
    );
  });
});

function handlerOf(kind: Kind, handle: (run: Run) => unknown): Provider {
  @Handles(kind)
  class TestHandler extends Handler {
    async handle(_payload: unknown, run: Run): Promise<unknown> {
      return handle(run);
    }
  }
  return TestHandler as Type;
}

/** The next answer to that script is an error, as of a store that fails over: whether it was run or not. */
function failOnce(redis: Redis, text: string, isRun: boolean): void {
  type Send = (script: string, ...rest: unknown[]) => Promise<unknown>;
  const sha = createHash('sha1').update(text).digest('hex');
  const sends = redis as unknown as Record<'evalsha' | 'eval', Send>;
  let isOver = false;
  for (const name of ['evalsha', 'eval'] as const) {
    const send = sends[name].bind(redis);
    sends[name] = async (script, ...rest) => {
      if (isOver || (script !== sha && script !== text)) return send(script, ...rest);
      if (isRun) await send(script, ...rest);
      isOver = true;
      throw readOnly();
    };
  }
}

function readOnly(): Error {
  return new Error("READONLY You can't write against a read only replica.");
}
