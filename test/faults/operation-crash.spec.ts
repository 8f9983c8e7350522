import { Owners } from '#core';
import {
  defineKind,
  Enqueuer,
  Handler,
  Handles,
  Operations,
  OperationWorker,
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
/** The number of commands at which a process dies, once before and once after each. */
const SAMPLED = 5;
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

/** What an operation was at when its process died, the next process brings to its end. */
describe('kill -9 of a process that works at an operation', () => {
  const seed = Date.now() % 1_000_000;
  const random = seededRandom(seed);

  it(
    'at any command: every job is retried once, although it fails again at once',
    async () => {
      const commands = await fewestCommands(async () => (await trial('before:#0'))!);
      console.log(`The operation sends ${commands} commands; seed ${seed}.`);
      const points = ['after:retryOnce', ...crashPoints(commands, SAMPLED, random)];
      let killed = 0;
      for (const point of points) {
        const answer = await trial(point).catch((error: unknown) => {
          throw new Error(`Killed ${point}, seed ${seed}`, { cause: error });
        });
        if (answer === undefined) killed += 1;
      }
      console.log(`Killed ${killed} of ${points.length}.`);
      expect(killed).toBeGreaterThan(points.length / 2);
    },
    crashTime((SAMPLED + 4) * TRIAL_MS),
  );

  /** A store of its own prefix with failed jobs. Answers how many commands it took, if the process lived. */
  async function trial(point: string): Promise<number | undefined> {
    runs = new Map();
    const app = new KindApp();
    const context = await app.startWorker([work], [WorkHandler], {
      sweeps: { timers: false, lock: 1_000 },
      worker: { concurrency: 50 },
    });
    try {
      await addFailed(context);
      for (let i = 0; i < CLOSED; i += 1) await context.get(Owners).cancel(`trip:${i}`);
      const order = { action: 'retry', filter: { queue: 'work', error: 'hot' }, by: 'ops' } as const;
      const { operationId } = await context.get(Operations).start(order);

      const { done } = await CrashingProcess.start(app, point).obey({ operate: true });

      const operation = await untilOver(context, operationId);
      expect(operation).toMatchObject({
        state: 'done',
        matched: JOBS,
        done: JOBS - CLOSED,
        refused: CLOSED,
        failed: 0,
        skipped: 0,
      });
      await until(() => sum(runs) === JOBS * 2 - CLOSED, 'each that was retried ran again');
      await until(async () => (await failed(app)) === JOBS, 'all have failed again');
      expect(sum(runs)).toBe(JOBS * 2 - CLOSED);
      expect(Math.max(...runs.values())).toBe(2);
      await app.untilNothingIsLeft();
      return done?.commands;
    } finally {
      await app.stop();
    }

    async function addFailed(at: INestApplicationContext): Promise<void> {
      const jobs = Array.from({ length: JOBS }, (_, i) =>
        at.get(Enqueuer).enqueue(work, {}, { owners: [`trip:${i}`] }),
      );
      await Promise.all(jobs);
      await until(async () => (await failed(app)) === JOBS, 'all have failed');
    }
  }

  function failed(app: KindApp): Promise<number> {
    return app.redis.zcard(`${app.prefix}:work:failed`);
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
