import type { PerOwner } from './work.js';
import type { Answer, Contest } from './contest.js';
import type { Extra } from './extras.js';
import { sidesAsked, sidesThatRun, type SideName } from './sides.js';
import type { Processed, Task } from './worker.process.js';

const SHORT: Task = { warmUp: 3_000, count: 15_000 };
const LONG: Task = { warmUp: 500, count: 8_000 };
const CONTENDED: Task = { warmUp: 500, count: 5_000 };
/** A worker takes a few more than it counts: the last ones that count must not be short of jobs. */
const SPARE = 500;
/** About as many it does take beyond them, until it is stopped. */
const TAKEN_BEYOND = 100;
const WORKERS = 4;

interface Work {
  readonly handlerMs: number;
  readonly task: Task;
  readonly perOwner?: PerOwner;
  readonly extra?: Extra;
  readonly workers?: number;
}

/** Jobs that wait already, by worker processes at concurrency 50. */
export async function processNoOps(contest: Contest): Promise<void> {
  for (const perOwner of [1, 100] as const) {
    await ask(contest, `process no-op, ${perOwner} an owner`, { handlerMs: 0, task: SHORT, perOwner });
  }
}

export function processShort(contest: Contest): Promise<void> {
  return ask(contest, 'process 1 ms', { handlerMs: 1, task: SHORT });
}

export function processLong(contest: Contest): Promise<void> {
  return ask(contest, 'process 10 ms', { handlerMs: 10, task: LONG });
}

export async function processByFour(contest: Contest): Promise<void> {
  const workers = WORKERS;
  const each: Task = { warmUp: 1_000, count: 4_000 };
  await ask(contest, 'process no-op, 4 processes', { handlerMs: 0, task: each, workers });
  await ask(contest, 'process 10 ms, 4 processes', { handlerMs: 10, task: each, workers });
}

export function processWithDedup(contest: Contest): Promise<void> {
  return ask(contest, 'process no-op, dedup', { handlerMs: 0, task: SHORT, extra: 'dedup' });
}

export async function processWithSlots(contest: Contest): Promise<void> {
  await ask(contest, 'process no-op, free slots', { handlerMs: 0, task: SHORT, extra: 'free slots' });
  await ask(contest, 'process no-op, 10 slots of 1', {
    handlerMs: 0,
    task: CONTENDED,
    extra: 'contended slots',
  });
}

function ask(contest: Contest, question: string, work: Work): Promise<void> {
  return contest.ask(question, sidesThatRun(sidesAsked(contest.sides, work)), (side) =>
    run(contest, side, work),
  );
}

async function run(contest: Contest, side: SideName, work: Work): Promise<Answer> {
  const { handlerMs, task, perOwner = 1, extra, workers = 1 } = work;
  const each = task.warmUp + task.count;
  // No two workers get the same share: the slowest one must find jobs until it has its own.
  const count = workers === 1 ? each + SPARE : 2 * workers * each;
  await contest.enqueue(side, { count, perOwner, extra, batch: 1_000 });
  const { done, storeMs } = await contest.spentOn(side, () =>
    contest.process(side, handlerMs, task, workers),
  );
  return {
    rate: total(done, ({ ms }) => (task.count / ms) * 1_000),
    workerCpu: (total(done, ({ cpuMs }) => cpuMs) / (task.count * workers)) * 1_000,
    // Which jobs beyond its count a worker still took is not known of several: theirs is left out.
    ...(workers === 1 && { storeCpu: (storeMs / (each + TAKEN_BEYOND)) * 1_000 }),
  };
}

function total(all: readonly Processed[], of: (one: Processed) => number): number {
  return all.reduce((sum, one) => sum + of(one), 0);
}
