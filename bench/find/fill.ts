import { MooredQueue, MooredWorker, Owners, type OwnedJobOptions } from '#core';
import { newJobId, Schedules } from '#nestjs';
import type { INestApplicationContext } from '@nestjs/common';
import type { JobsOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { BUSY, ENDED, KINDS, MAIL, ORDERS, PLAIN, PREFIX } from './find.app.js';

export interface Shape {
  readonly jobs: number;
  readonly owners: number;
}

const AT_ONCE = 1_000;
const CONCURRENCY = 200;
const RUNNING = 300;
const PRIORITIES = 600;
const HOUR_MS = 3_600_000;
/** Enough for a hundred pages. */
const CANCELLED = 10_200;
const SCHEDULES = 10_200;
const WORKERS = 100;
const RUNS_OF_A_WORKER = 20;
/** Of an owner that has more jobs than are read for a page. */
export const LARGE_OWNER = 'fleet:1';
const LARGE_ONE_IN = 50;
/** One failure in a thousand has the text that is looked for. */
const RARE_ONE_IN = 1_000;
export const [COMMON_ERROR, RARE_ERROR] = ['timed out', 'disk is full'];

/** Of a hundred jobs, how many are in each queue. */
const SHARES: readonly (readonly [queue: string, share: number, options: (i: number) => JobsOptions])[] = [
  [ORDERS, 40, (i) => ({ priority: 1 + (i % PRIORITIES) })],
  [MAIL, 15, (i) => ({ priority: 100, delay: HOUR_MS + i * 10 })],
  [MAIL, 15, (i) => ({ priority: 100 + (i % 3) })],
  [PLAIN, 10, () => ({})],
  [ENDED, 20, () => ({ priority: 100 })],
];

/** Fills a store with jobs of many owners in every state, and with all that the other lists show. */
export async function fill(
  redis: Redis,
  app: INestApplicationContext,
  shape: Shape,
): Promise<() => Promise<void>> {
  const queues = new Map(
    [ORDERS, MAIL, PLAIN, ENDED, BUSY].map((name) => [name, new MooredQueue(name, connected(redis))]),
  );
  const add = (name: string, count: number, options: (i: number) => JobsOptions): Promise<void> =>
    addJobs(queues.get(name)!, count, shape.owners, options);
  for (const [queue, share, options] of SHARES) await add(queue, (shape.jobs * share) / 100, options);
  await endJobs(redis, (shape.jobs * 20) / 100);
  await add(BUSY, RUNNING, () => ({ priority: 100 }));
  const busy = await runJobs(redis);
  await addRemoved(redis, queues.get(MAIL)!);
  await addSchedules(app);
  await addWorkers(redis);
  await Promise.all([...queues.values()].map((queue) => queue.close()));
  return () => busy.close(true);
}

function connected(connection: Redis): { connection: Redis; prefix: string } {
  return { connection, prefix: PREFIX };
}

async function addJobs(
  queue: MooredQueue,
  count: number,
  owners: number,
  options: (i: number) => JobsOptions,
  ownersOf = (i: number): string[] => [
    `trip:${i % owners}`,
    ...(i % LARGE_ONE_IN === 0 ? [LARGE_OWNER] : []),
  ],
): Promise<void> {
  const kinds = KINDS.filter((kind) => kind.queue === queue.name);
  const jobOf = (i: number): { name: string; data: object; opts: JobsOptions & OwnedJobOptions } => ({
    name: kinds[i % kinds.length]!.name,
    data: { number: i },
    opts: { ...options(i), jobId: newJobId(queue.name), owners: ownersOf(i) },
  });
  for (let from = 0; from < count; from += AT_ONCE)
    await queue.addBulk(Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => jobOf(from + i)));
}

/** Half of the jobs complete, the others fail. */
async function endJobs(redis: Redis, count: number): Promise<void> {
  const end = async ({ data }: { data: { number: number } }): Promise<void> => {
    if (data.number % 2 === 0) return;
    const isRare = (data.number >> 1) % RARE_ONE_IN === 0;
    throw new Error(`step ${data.number}: ${isRare ? RARE_ERROR : COMMON_ERROR}`);
  };
  const worker = new MooredWorker(ENDED, end, {
    ...connected(redis),
    concurrency: CONCURRENCY,
    skipStalledCheck: true,
  });
  worker.on('error', () => {});
  await new Promise<void>((resolve) => {
    let left = count;
    const count1 = (): void => {
      left -= 1;
      if (left === 0) resolve();
    };
    worker.on('completed', count1);
    worker.on('failed', count1);
  });
  await worker.close();
}

/** A worker whose jobs run until it is closed. */
async function runJobs(redis: Redis): Promise<MooredWorker> {
  let begun = 0;
  let all = (): void => {};
  const allRun = new Promise<void>((resolve) => (all = resolve));
  const run = (_job: unknown, _token?: string, signal?: AbortSignal): Promise<void> => {
    begun += 1;
    if (begun === RUNNING) all();
    return new Promise((resolve) => signal?.addEventListener('abort', () => resolve()));
  };
  const worker = new MooredWorker(BUSY, run, { ...connected(redis), concurrency: RUNNING });
  worker.on('error', () => {});
  await allRun;
  return worker;
}

/** Each of these owners had a job, which its cancel removes. */
async function addRemoved(redis: Redis, queue: MooredQueue): Promise<void> {
  const owners = new Owners(connected(redis));
  await addJobs(
    queue,
    CANCELLED,
    CANCELLED,
    () => ({ delay: HOUR_MS }),
    (i) => [`late:${i}`],
  );
  for (let from = 0; from < CANCELLED; from += 100)
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => owners.cancel(`late:${from + i}`, { reason: 'over' })),
    );
  await owners.close();
}

async function addSchedules(app: INestApplicationContext): Promise<void> {
  const schedules = app.get(Schedules);
  for (let from = 0; from < SCHEDULES; from += 100)
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => {
        const number = from + i;
        const kind = KINDS.find(({ queue }) => queue === (number % 2 === 0 ? MAIL : ORDERS))!;
        return schedules.put(`nightly-${number}`, kind, {
          every: '24h',
          owners: [`late:x${number}`],
          payload: {},
        });
      }),
    );
}

/** Heartbeats as workers write them, which do not expire while the lists are measured. */
async function addWorkers(redis: Redis): Promise<void> {
  const now = Date.now();
  for (let i = 0; i < WORKERS; i += 1) {
    const runs = Array.from({ length: RUNS_OF_A_WORKER }, (_, run) => {
      return {
        jobId: `busy-${i}-${run}`,
        kind: 'busy.normal',
        queue: BUSY,
        owner: 'trip:1',
        attempt: 1,
        since: now,
      };
    });
    const facts = {
      id: `w${i}`,
      host: 'host',
      pid: i,
      version: null,
      state: 'running',
      startedAt: now - i,
      at: now,
    };
    const queues = [{ queue: BUSY, concurrency: RUNS_OF_A_WORKER, kinds: ['busy.normal'] }];
    await redis.set(
      `${PREFIX}~worker~w${i}`,
      JSON.stringify({ ...facts, queues, running: runs.length, runs }),
    );
    await redis.zadd(`${PREFIX}~workers`, now, `w${i}`);
  }
}
