import { owner } from '#core';
import {
  defineKind,
  Enqueuer,
  JobReader,
  type JobView,
  type JobViewState,
  type Kind,
  type KindOptions,
} from '#nestjs';
import type { INestApplicationContext } from '@nestjs/common';
import { Queue } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sendCancelOnly } from '../support/core-cancel.js';
import { isGone } from '../support/is-gone.js';
import { KindApp } from '../support/kind-app.js';
import { root, TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

const TRIP = owner('trip', '42');
const SANDBOX = new URL('../support/odd.sandbox.mjs', import.meta.url);
const NAMES = { name: 'thing.render', queue: 'renders' };

type Options = Partial<Omit<KindOptions<z.ZodAny>, 'payload'>>;

describe('a sandboxed run', () => {
  let app: KindApp;
  let context: INestApplicationContext;
  let kind: Kind;
  beforeEach(() => (app = new KindApp()));
  afterEach(async () => {
    await app.untilNothingIsLeft();
    await app.stop();
  });

  async function start(options: Options, worker?: object): Promise<void> {
    kind = defineKind({ ...NAMES, payload: z.any(), sandbox: SANDBOX, ...options });
    context = await app.startWorker([kind], [], { worker: { ...worker } });
  }

  it('does its job and reports its progress', async () => {
    await start({});
    expect(await ended(await enqueue({ do: 'tell' }))).toMatchObject({
      state: 'completed',
      result: 'told',
      progress: { done: 100 },
    });
  });

  it('that never yields is killed when its timeout and its grace are over; the worker continues', async () => {
    await start({ timeout: '3s', grace: '200ms', attempts: 2 });
    const id = await enqueue({ do: 'busy' });
    const first = await pidOf(id);
    const second = await until(async () => {
      const { pid } = ((await view(id))?.progress ?? {}) as { pid?: number };
      return pid !== first && pid;
    }, 'it is tried again');
    expect(isGone(first)).toBe(true);
    expect(await ended(id)).toMatchObject({
      state: 'failed',
      attempts: 2,
      error: 'The run took longer than 3000 ms.',
    });
    expect(isGone(second)).toBe(true);
    expect(await ended(await enqueue({ do: 'nothing' }))).toMatchObject({ state: 'completed' });
  });

  it('holds its slot until its process is gone', async () => {
    await start({ timeout: '3s', grace: '200ms', slot: () => ({ key: 'one', limit: 1 }) });
    const stubborn = await enqueue({ do: 'busy' });
    const pid = await pidOf(stubborn);
    const next = await enqueue({ do: 'isThere', pid });
    expect(await ended(next)).toMatchObject({ state: 'completed', result: false });
    expect(await ended(stubborn)).toMatchObject({ state: 'failed' });
  });

  it('of a cancelled owner is told why and ends cancelled, whatever it returns', async () => {
    await start({ attempts: 5 });
    const id = await enqueue({ do: 'wait' });
    const pid = await pidOf(id);
    await cancelOnly();
    expect(await ended(id)).toMatchObject({ state: 'cancelled', result: null });
    expect(isGone(pid)).toBe(true);
  });

  it('of a cancelled owner that never yields is killed and ends cancelled', async () => {
    await start({ attempts: 5, grace: '200ms' });
    const id = await enqueue({ do: 'busy' });
    const pid = await pidOf(id);
    await cancelOnly();
    expect(await ended(id)).toMatchObject({
      state: 'cancelled',
      error: 'its owner was cancelled while it ran',
    });
    expect(isGone(pid)).toBe(true);
  });

  it('whose process exits by itself fails an attempt and reports the exit', async () => {
    await start({ attempts: 2 });
    expect(await ended(await enqueue({ do: 'exit', code: 3 }))).toMatchObject({
      state: 'failed',
      attempts: 2,
      error: 'The sandbox of thing.render ended by itself: exit code 3. What it printed last may say why.',
    });
  });

  it('is not retried after an unrecoverable error', async () => {
    await start({ attempts: 5 });
    expect(await ended(await enqueue({ do: 'giveUp' }))).toMatchObject({
      state: 'failed',
      attempts: 1,
      error: 'Never again.',
    });
  });

  it('that never yields is handed back when its worker shuts down, and no process of it survives', async () => {
    await start({}, { shutdownTimeout: 1_000 });
    const id = await enqueue({ do: 'spawn', next: 'busy' });
    const pids = await pidsOf(context, id);
    expect(pids).toHaveLength(2);
    await context.close();
    await until(() => pids.every(isGone), 'all are gone');
    expect(app.factsOf(id)).toEqual(['job.accepted', 'job.began', 'job.handed-back']);

    const queue = new Queue(kind.queue, { connection: app.redis, prefix: app.prefix });
    const job = (await queue.getJob(id))!;
    expect([await job.getState(), job.attemptsMade]).toEqual(['prioritized', 0]);
    // For the check that nothing is left: otherwise the next worker would run the job.
    await app.owners.cancel(TRIP, { close: false });
    await queue.close();
  });

  function enqueue(payload: object): Promise<string> {
    return context
      .get(Enqueuer)
      .enqueue(kind, payload, { owners: [TRIP] })
      .then(({ id }) => id);
  }

  function view(id: string): Promise<JobView | undefined> {
    return context.get(JobReader).read(id);
  }

  /** Cancels the owner without a message, so the workers have to find out. */
  async function cancelOnly(): Promise<void> {
    await app.owners.openReceipts();
    await sendCancelOnly(app.redis, app.prefix, 'trip:42');
  }

  async function pidOf(id: string): Promise<number> {
    return (await pidsOf(context, id))[0]!;
  }

  function ended(id: string): Promise<JobView> {
    const over: JobViewState[] = ['completed', 'failed', 'cancelled', 'expired', 'skipped'];
    return until(async () => {
      const job = await view(id);
      return job && over.includes(job.state) && job;
    }, `${id} has ended`);
  }
});

describe('a worker of sandboxed kinds', () => {
  let producer: KindApp;
  let worker: TestProcess;
  let kind: Kind;
  let pids: number[] = [];
  afterEach(async () => {
    // A loop that is not killed would run for ever.
    for (const pid of pids) if (!isGone(pid)) process.kill(pid, 'SIGKILL');
    worker.kill('SIGKILL');
    await worker.exited;
    await producer.stop();
  });

  it('that is killed takes the processes of its runs with it, even busy loops', async () => {
    kind = defineKind({ ...NAMES, payload: z.any(), sandbox: SANDBOX });
    producer = new KindApp();
    const context = await producer.start([kind]);
    worker = startWorker();
    const { id } = await context
      .get(Enqueuer)
      .enqueue(kind, { do: 'spawn', next: 'busy' }, { owners: [TRIP] });
    pids = await pidsOf(context, id);
    worker.kill('SIGKILL');
    expect(pids).toHaveLength(2);
    await until(() => pids.every(isGone), 'all are gone', 15_000);
    // The output is inherited, so it closes only when no process is left that could write to it.
    expect(await worker.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  function startWorker(): TestProcess {
    return TestProcess.script([`${root}/test/support/sandbox-worker.mjs`], {
      REDIS_URL: producer.storeUrl,
      MOORING_PREFIX: producer.prefix,
      KIND: JSON.stringify(NAMES),
    });
  }
});

/** Waits until a run has reported its process, and the one that it started, if any; returns their pids. */
function pidsOf(context: INestApplicationContext, id: string): Promise<number[]> {
  return until(async () => {
    const { progress } = (await context.get(JobReader).read(id))!;
    return typeof progress === 'object' && Object.values(progress as Record<string, number>);
  }, `${id} runs`);
}
