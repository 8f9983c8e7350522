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

  it('does its job and says how far it is', async () => {
    await start({});
    expect(await ended(await enqueue({ do: 'tell' }))).toMatchObject({
      state: 'completed',
      result: 'told',
      progress: { done: 100 },
    });
  });

  it('that never yields is killed when its time and its grace are over; the worker goes on', async () => {
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

  it('of a cancelled owner is told why, and ends cancelled whatever it makes', async () => {
    await start({ attempts: 5 });
    const id = await enqueue({ do: 'wait' });
    const pid = await pidOf(id);
    await cancelAndDie();
    expect(await ended(id)).toMatchObject({ state: 'cancelled', result: null });
    expect(isGone(pid)).toBe(true);
  });

  it('of a cancelled owner that never yields is killed, and ends cancelled', async () => {
    await start({ attempts: 5, grace: '200ms' });
    const id = await enqueue({ do: 'busy' });
    const pid = await pidOf(id);
    await cancelAndDie();
    expect(await ended(id)).toMatchObject({
      state: 'cancelled',
      error: 'its owner was cancelled while it ran',
    });
    expect(isGone(pid)).toBe(true);
  });

  it('whose process ends by itself has failed an attempt, and says how', async () => {
    await start({ attempts: 2 });
    expect(await ended(await enqueue({ do: 'exit', code: 3 }))).toMatchObject({
      state: 'failed',
      attempts: 2,
      error: 'The sandbox of thing.render ended by itself: exit code 3. What it printed last may say why.',
    });
  });

  it('is not tried again after an error that no retry mends', async () => {
    await start({ attempts: 5 });
    expect(await ended(await enqueue({ do: 'giveUp' }))).toMatchObject({
      state: 'failed',
      attempts: 1,
      error: 'Never again.',
    });
  });

  it('that never yields is handed back by a worker that ends, and nothing is left of it', async () => {
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
    // For the check that nothing is left: the next worker would have taken it from here.
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

  /** The workers find the cancel by themselves. */
  async function cancelAndDie(): Promise<void> {
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
    // A loop that nobody ended would go on for ever.
    for (const pid of pids) if (!isGone(pid)) process.kill(pid, 'SIGKILL');
    worker.kill('SIGKILL');
    await worker.exited;
    await producer.stop();
  });

  it('that is killed takes its runs with it, loops and all', async () => {
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
    // Its output is inherited: it closes only when nobody is left who might write to it.
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

/** The process of a run, and the one that it started, if it did; once it has told of them. */
function pidsOf(context: INestApplicationContext, id: string): Promise<number[]> {
  return until(async () => {
    const { progress } = (await context.get(JobReader).read(id))!;
    return typeof progress === 'object' && Object.values(progress as Record<string, number>);
  }, `${id} runs`);
}
