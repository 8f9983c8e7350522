import { Owners } from '#core';
import {
  defineKind,
  Enqueuer,
  Handler,
  Handles,
  JobFinder,
  Operations,
  OperationWorker,
  type OperationOrder,
  type OperationView,
} from '#nestjs';
import type { INestApplicationContext } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { crashPoints, crashTime, fewestCommands } from '../support/crash-points.js';
import { CrashingProcess } from '../support/crashing-process.js';
import { KindApp } from '../support/kind-app.js';
import { seededRandom } from '../support/random.js';
import { until } from '../support/until.js';

const JOBS = 240;
const CLOSED = 3;
/** The number of jobs that are cancelled and removed. */
const FEW = 60;
/** The number of commands at which a process dies, once before and once after each. */
const SAMPLED = 2;
const SAMPLED_OF_FEW = 1;
const TRIAL_MS = 20_000;

const work = defineKind({ name: 'work', queue: 'work', payload: z.any() });

let runs: Map<string, number>;

@Handles(work)
class WorkHandler extends Handler<typeof work> {
  async handle(_payload: unknown, { id }: { readonly id: string }): Promise<void> {
    runs.set(id, (runs.get(id) ?? 0) + 1);
    throw new Error('too hot');
  }
}

/** What an operation is about, and what it has come to. */
interface Trial {
  readonly order: Pick<OperationOrder, 'action' | 'filter'>;
  readonly jobs: number;
  /** Adds the jobs, and waits until they are as the filter says. */
  prepare(at: INestApplicationContext, failed: () => Promise<number>): Promise<void>;
  readonly expected: Partial<OperationView>;
  check(at: INestApplicationContext, failed: () => Promise<number>): Promise<void>;
}

async function addFailed(
  count: number,
  at: INestApplicationContext,
  failed: () => Promise<number>,
): Promise<void> {
  const jobs = Array.from({ length: count }, (_, i) =>
    at.get(Enqueuer).enqueue(work, {}, { owners: [`trip:${i}`] }),
  );
  await Promise.all(jobs);
  await until(async () => (await failed()) === count, 'all have failed');
}

const RETRY: Trial = {
  order: { action: 'retry', filter: { queue: 'work', error: 'hot' } },
  jobs: JOBS,
  async prepare(at, failed) {
    await addFailed(JOBS, at, failed);
    for (let i = 0; i < CLOSED; i += 1) await at.get(Owners).cancel(`trip:${i}`);
  },
  expected: { done: JOBS - CLOSED, refused: CLOSED },
  async check(_at, failed) {
    await until(() => sum(runs) === JOBS * 2 - CLOSED, 'each that was retried ran again');
    await until(async () => (await failed()) === JOBS, 'all have failed again');
    expect(sum(runs)).toBe(JOBS * 2 - CLOSED);
    expect(Math.max(...runs.values())).toBe(2);
  },
};

const CANCEL: Trial = {
  order: { action: 'cancel', filter: { queue: 'work' } },
  jobs: FEW,
  async prepare(at) {
    const options = { owners: ['trip:1'], delay: '1h' };
    await Promise.all(Array.from({ length: FEW }, () => at.get(Enqueuer).enqueue(work, {}, options)));
  },
  expected: { done: FEW },
  async check(at) {
    expect(await at.get(Owners).get('trip:1')).toBeUndefined();
    const { receipts } = await at.get(Owners).listReceipts({ limit: 2 * FEW });
    expect(receipts.map(({ removed, done }) => [removed, done])).toEqual(receipts.map(() => [1, true]));
    expect(receipts).toHaveLength(FEW);
  },
};

const REMOVE: Trial = {
  order: { action: 'remove', filter: { queue: 'work', state: 'failed' } },
  jobs: FEW,
  prepare: (at, failed) => addFailed(FEW, at, failed),
  expected: { done: FEW },
  async check(at, failed) {
    expect(await failed()).toBe(0);
    expect(sum(runs)).toBe(FEW);
    expect((await at.get(JobFinder).find({ state: 'removed' })).jobs).toHaveLength(FEW);
  },
};

/** What an operation was at when its process died, the next process brings to its end. */
describe('kill -9 of a process that works at an operation', () => {
  const seed = Date.now() % 1_000_000;
  const random = seededRandom(seed);

  it(
    'at any command: every job is retried once, although it fails again at once',
    async () => {
      const commands = await fewestCommands(async () => (await attempt(RETRY, 'before:#0'))!);
      const points = ['after:retryOnce', ...crashPoints(commands, SAMPLED, random)];
      expect(await killAt(RETRY, points)).toBeGreaterThan(points.length / 2);
    },
    crashTime((SAMPLED + 4) * TRIAL_MS),
  );

  it.each([
    ['cancel', 'after:cancelJob', CANCEL],
    ['remove', 'after:removeEnded', REMOVE],
  ] as const)(
    'at any command of a %s: every job is counted once',
    async (_, named, trial) => {
      const points = [named, ...crashPoints(FEW, SAMPLED_OF_FEW, random)];
      expect(await killAt(trial, points)).toBeGreaterThan(points.length / 2);
    },
    crashTime((SAMPLED_OF_FEW + 1) * TRIAL_MS),
  );

  /** Answers how many processes were killed. */
  async function killAt(trial: Trial, points: readonly string[]): Promise<number> {
    let killed = 0;
    for (const point of points) {
      const answer = await attempt(trial, point).catch((error: unknown) => {
        throw new Error(`Killed ${point}, seed ${seed}`, { cause: error });
      });
      if (answer === undefined) killed += 1;
    }
    console.log(`Killed ${killed} of ${points.length}; seed ${seed}.`);
    return killed;
  }

  /** A store of its own prefix. Answers how many commands the operation took, if the process lived. */
  async function attempt(trial: Trial, point: string): Promise<number | undefined> {
    runs = new Map();
    const app = new KindApp();
    const failed = (): Promise<number> => app.redis.zcard(`${app.prefix}:work:failed`);
    const context = await app.startWorker([work], [WorkHandler], {
      sweeps: { timers: false, lock: 1_000 },
      worker: { concurrency: 50 },
    });
    try {
      await trial.prepare(context, failed);
      const { operationId } = await context.get(Operations).start({ ...trial.order, by: 'ops' });

      const { done } = await CrashingProcess.start(app, point).obey({ operate: true });

      const counts = { matched: trial.jobs, refused: 0, failed: 0, skipped: 0, ...trial.expected };
      expect(await untilOver(context, operationId)).toMatchObject({ state: 'done', ...counts });
      await trial.check(context, failed);
      await app.untilNothingIsLeft();
      return done?.commands;
    } finally {
      await app.stop();
    }
  }

  async function untilOver(context: INestApplicationContext, id: string): Promise<OperationView> {
    return until(async () => {
      await context.get(OperationWorker).work();
      const operation = await context.get(Operations).get(id);
      return operation?.state === 'done' && operation;
    }, 'the operation is done');
  }
});

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, each) => total + each, 0);
}
