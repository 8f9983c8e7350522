import { owner } from '#core';
import {
  defineKind,
  Enqueuer,
  Handler,
  Handles,
  JobCanceller,
  JobReader,
  type EnqueueOptions,
  type JobView,
  type JobViewState,
  type Kind,
  type Run,
} from '#nestjs';
import { Injectable, Scope, type INestApplicationContext, type Provider, type Type } from '@nestjs/common';
import { Queue } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sendCancelOnly } from '../support/core-cancel.js';
import { defer } from '../support/defer.js';
import { KindApp } from '../support/kind-app.js';
import { until } from '../support/until.js';

const TRIP = owner('trip', '42');
const LOCK_MS = 2_000;

describe('a run', () => {
  let app: KindApp;
  let context: INestApplicationContext;
  let queue: Queue;
  beforeEach(() => {
    app = new KindApp();
    queue = new Queue('things', { connection: app.redis, prefix: app.prefix });
  });
  afterEach(async () => {
    await app.untilNothingIsLeft();
    await queue.close();
    await app.stop();
  });

  /** An application with one kind, whose handler calls the given function. */
  async function start(
    options: Partial<Parameters<typeof defineKind>[0]>,
    handle: (run: Run) => unknown,
  ): Promise<Kind> {
    const kind = defineKind({ name: 'thing.do', queue: 'things', payload: z.object({}), ...options });
    const worker = { lockDuration: LOCK_MS };
    context = await app.startWorker([kind], [handlerOf(kind, handle)], { worker });
    return kind;
  }

  it('commits its result once and leaves nothing else', async () => {
    const fences: number[] = [];
    const kind = await start({}, (run) => {
      fences.push(run.fence);
      return { made: 'this' };
    });
    const id = await enqueue(kind);
    expect(await ended(id)).toMatchObject({ state: 'completed', result: { made: 'this' }, attempts: 1 });
    expect(fences).toEqual([1]);
  });

  it('reports its progress, and reports nothing more once it is abandoned', async () => {
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

  it('does not fail when its progress cannot be serialized', async () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const kind = await start({}, async (run) => {
      await run.progress(circle);
      await run.progress(50);
      return 'done';
    });
    const id = await enqueue(kind);
    expect(await ended(id)).toMatchObject({ state: 'completed', result: 'done', progress: 50 });
    expect(app.facts.filter(({ event }) => event === 'trouble')).toHaveLength(1);
  });

  it('logs its wait since the job was due; that of a retry is unknown', async () => {
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

  it('that times out but ends within its grace still counts', async () => {
    const kind = await start({ timeout: '100ms', grace: '10s' }, (run) => {
      return new Promise((resolve) => run.signal.addEventListener('abort', () => resolve('in time')));
    });
    expect(await ended(await enqueue(kind))).toMatchObject({ state: 'completed', result: 'in time' });
  });

  it('that ignores its timeout is abandoned: its result does not count, the result of the retry does', async () => {
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

  it('that fails is retried after the delays in the list', async () => {
    const began: number[] = [];
    const kind = await start({ attempts: 4, backoff: ['50ms', '200ms', '450ms'] }, () => {
      began.push(Date.now());
      throw new Error('not yet');
    });
    const id = await enqueue(kind);
    expect(await ended(id)).toMatchObject({ state: 'failed', error: 'not yet', attempts: 4 });
    const gaps = began.slice(1).map((at, i) => at - began[i]!);
    // BullMQ's delays are whole milliseconds of its own clock reading; rounding may lose one.
    expect(gaps.map((gap, i) => gap >= [50, 200, 450][i]! - 1)).toEqual([true, true, true]);
  });

  it('that fails is retried at once, not after its own lease', async () => {
    const kind = await start({ attempts: 30 }, (run) => {
      if (run.attempt < 30) throw new Error('not yet');
      return run.attempt;
    });
    const id = await enqueue(kind);
    expect(await ended(id)).toMatchObject({ state: 'completed', result: 30, attempts: 30 });
    expect(app.factsOf(id)).not.toContain('job.put-off');
  });

  it('is told when its process shuts down, and its job is handed back without an attempt', async () => {
    const reasons: unknown[] = [];
    const kind = await start({}, (run) => {
      return new Promise((_, reject) => {
        run.signal.addEventListener('abort', () => {
          reasons.push(run.signal.reason);
          reject(new Error('stopped'));
        });
      });
    });
    const id = await enqueue(kind);
    await until(() => app.factsOf(id).includes('job.began'), 'it runs');
    await context.close();
    expect(reasons).toEqual(['shutdown']);
    const job = (await queue.getJob(id))!;
    expect([await job.getState(), job.attemptsMade]).toEqual(['prioritized', 0]);
    // For the check that nothing is left: otherwise the next worker would run the job.
    await app.owners.cancel(TRIP, { close: false });
  });

  it('of a cancelled owner is told within a renewal, ends cancelled and is never retried', async () => {
    const told = defer<{ at: number; why: unknown }>();
    const kind = await start({ attempts: 5, backoff: ['10ms'] }, (run) => {
      return new Promise((_, reject) => {
        run.signal.addEventListener('abort', () => {
          told.resolve({ at: performance.now(), why: run.signal.reason });
          reject(new Error('stopped'));
        });
      });
    });
    const id = await enqueue(kind);
    await until(() => app.factsOf(id).includes('job.began'), 'it runs');
    const cancelledAt = performance.now();
    await cancelOnly();

    const { at, why } = await told.promise;
    expect(why).toBe('cancelled');
    expect(at - cancelledAt).toBeLessThan(LOCK_MS / 4 + 500);
    const job = await ended(id);
    expect(job).toMatchObject({
      state: 'cancelled',
      result: null,
      error: 'its owner was cancelled while it ran',
    });
    expect(job.timeline.map(({ event }) => event)).toEqual(['accepted', 'began', 'aborted', 'cancelled']);
    expect(app.factsOf(id)).toEqual(['job.accepted', 'job.began', 'job.cancelled']);
  });

  it('of a cancelled owner that ends before it is told has its result refused', async () => {
    const go = defer<string>();
    const kind = await start({ attempts: 5 }, () => go.promise);
    const id = await enqueue(kind);
    await until(() => app.factsOf(id).includes('job.began'), 'it runs');
    await cancelOnly();
    go.resolve('too late');
    expect(await ended(id)).toMatchObject({ state: 'cancelled', result: null });
  });

  it('does not begin for a job whose owner was cancelled while it waited', async () => {
    const kind = await start({}, () => 'ran');
    const id = await enqueue(kind, { delay: '1s' });
    await cancelOnly();
    await until(async () => (await view(id))?.state === 'removed', 'a worker has removed it');
    expect(await view(id)).toMatchObject({ attempts: 0, error: 'cancelled (it was delayed)' });
    const after = await enqueue(kind);
    expect(await ended(after)).toMatchObject({ state: 'completed', result: 'ran' });
    expect(app.factsOf(id)).toEqual(['job.accepted']);
  });

  it('does not begin for a job that was cancelled, and a later trigger is accepted', async () => {
    const kind = await start({ dedup: { strategy: 'skip', key: 'k' } }, () => 'ran');
    const id = await enqueue(kind, { delay: '1s' });
    const receipt = await context.get(JobCanceller).cancel(id, { wait: 'drained' });
    expect(receipt).toMatchObject({ job: { id }, removed: 1, aborted: 0, done: true });
    expect(await view(id)).toMatchObject({ state: 'removed', attempts: 0 });

    const next = await enqueue(kind);
    expect(next).not.toBe(id);
    expect(await ended(next)).toMatchObject({ state: 'completed' });
  });

  function enqueue(kind: Kind, options: EnqueueOptions = {}): Promise<string> {
    const enqueuer = context.get(Enqueuer);
    return enqueuer.enqueue(kind, {}, { owners: [TRIP], ...options }).then(({ id }) => id);
  }

  /** Cancels the owner without a message to the workers and without the clean-up, which they have to do. */
  async function cancelOnly(): Promise<void> {
    await app.owners.openReceipts();
    await sendCancelOnly(app.redis, app.prefix, 'trip:42');
  }

  function view(id: string): Promise<JobView | undefined> {
    return context.get(JobReader).read(id);
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
    const app = new KindApp();
    await expect(app.startWorker([kind], [ScopedHandler])).rejects.toThrow(
      'ScopedHandler is request-scoped, so no abort signal can reach it. Make it a singleton.',
    );
    await app.stop();
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
