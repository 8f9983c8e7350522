import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JobView } from '#nestjs';
import { Fleet } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { intervals, jobFacts, mostAtOnce, type Interval } from '../support/life-facts.js';
import type { TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

const LOCK_MS = 4_000;
/** Stalled jobs are checked every fifth of the lock's length; a job is recovered at the second check. */
const CHECKS_MS = (2 * LOCK_MS) / 5;
const SLACK_MS = 4_000;

let fleet: Fleet;
let redis: Redis;
let queue: Queue;
/** Names of the current test: its owner and its slot. */
let owner: string;
let driver: string;
let tests = 0;

/** Each test starts with an empty queue, so that it counts only its own jobs. */
describe('the slots of a key', () => {
  beforeAll(startFleet);
  afterAll(stopFleet);
  beforeEach(useOwnNames);
  afterEach(async () => {
    await queue.resume();
    try {
      await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
      await untilQueueIsEmpty();
    } finally {
      await cancel(owner);
    }
  });

  it('go to 200 jobs of one key in order, one at a time, without counting an attempt', async () => {
    const [hot] = await Promise.all([
      accept(200, { ms: 10 }, () => slot(driver, 1)),
      accept(50, { ms: 10 }, (i) => slot(`${driver}:${i}`, 1)),
    ]);
    const done = await completed(hot, 60_000);

    const ran = intervalsOf(hot);
    expect(ran.map(({ jobId }) => jobId)).toEqual(hot);
    expect(mostAtOnce(ran)).toBe(1);
    expect(done.filter(({ attempts }) => attempts !== 1)).toEqual([]);
  }, 90_000);

  it('are waited for without occupying a worker: other jobs complete while the line waits', async () => {
    const holder = await probe({ ms: 8_000 }, slot(driver, 1));
    await fleet.untilState(holder, 'running');
    const line = await accept(60, {}, () => slot(driver, 1));
    const others = await accept(50, { ms: 20 }, (i) => slot(`${driver}:other-${i}`, 1));

    await completed(others);
    await until(async () => (await queue.getDelayedCount()) === line.length, 'all others stand in line');
    expect((await fleet.job(holder)).state).toBe('running');
    expect(await queue.getActiveCount()).toBe(1);
    expect(eventsOf(await fleet.job(line[0]!))).toEqual(['accepted', 'waiting-for-slot']);

    await completed([holder, ...line]);
    const ran = intervalsOf([holder, ...line]);
    expect(ran.map(({ jobId }) => jobId)).toEqual([holder, ...line]);
    expect(mostAtOnce(ran)).toBe(1);
  }, 60_000);

  it('record one wait for a job that keeps its place and its priority', async () => {
    const holder = await probe({ ms: 8_000 }, slot(driver, 1));
    await fleet.untilState(holder, 'running');
    const line = await accept(60, {}, () => slot(driver, 1));
    await until(async () => (await queue.getDelayedCount()) === line.length, 'all others stand in line');

    const last = await queue.getJob(line.at(-1)!);
    expect(last!.priority).toBe(300);
    await last!.promote();
    await until(() => last!.isDelayed(), 'it has looked, and waits again');
    expect(eventsOf(await fleet.job(last!.id!))).toEqual(['accepted', 'waiting-for-slot']);
    await completed([holder, ...line]);
    expect(intervalsOf(line).map(({ jobId }) => jobId)).toEqual(line);
  }, 60_000);

  it('are two for a job with a deduplication key and a slot key: of its deduplication key one job runs at a time', async () => {
    const dedup = { dedup: { strategy: 'skip', key: 'k' } };
    const first = await probe({ ms: 2_500 }, dedup);
    await workerOf(first);
    const named = await probe({ ms: 2_500 }, { ...dedup, ...slot(driver, 1) });
    await fleet.untilState(named, 'delayed');
    // Meanwhile other jobs use the slot that it names.
    const other = await probe({}, slot(driver, 1));
    await fleet.untilState(other, 'completed');
    expect((await fleet.job(first)).state).toBe('running');

    await workerOf(named);
    const alike = await probe({}, { ...dedup, ...slot(`${driver}:two`, 2) });
    const behind = await probe({}, slot(driver, 1));
    const all = [first, named, alike, behind];
    await completed(all);
    expect(mostAtOnce(intervalsOf([first, named, alike]))).toBe(1);
    expect(mostAtOnce(intervalsOf([named, behind]))).toBe(1);
    // The job was woken, not found by polling.
    const [held, came] = intervalsOf([first, named]);
    expect(came!.from - held!.to).toBeLessThan(SLACK_MS);
  }, 30_000);

  it('are both given up by a job that is cancelled while it waits for one', async () => {
    const dedup = { dedup: { strategy: 'skip', key: 'k' } };
    const first = await probe({ ms: 2_000 }, dedup);
    await workerOf(first);
    const gone = await probe({}, { ...dedup, ...slot(driver, 1) });
    await fleet.untilState(gone, 'delayed');
    const next = await probe({}, slot(driver, 1));
    await fleet.request('DELETE', `/v1/jobs/${gone}`);
    await completed([first, next]);
    expect((await fleet.job(gone)).state).toBe('removed');
    expect(await redis.keys(`{${fleet.prefix}}~line~*`)).toEqual([]);
  });

  it('are as many as the limit', async () => {
    const ids = await accept(40, { ms: 100 }, () => slot(driver, 3));
    await completed(ids);
    expect(mostAtOnce(intervalsOf(ids))).toBe(3);
  });

  it('do not wait for a job that was removed from the line', async () => {
    const holder = await probe({ ms: 3_000 }, slot(driver, 1));
    await fleet.untilState(holder, 'running');
    const gone = await probe({}, { owners: [`${owner}-gone`], ...slot(driver, 1) });
    const next = await probe({}, slot(driver, 1));
    await until(async () => (await queue.getDelayedCount()) === 2, 'both stand in line');

    await queue.remove(gone);
    await completed([holder, next]);
    const [held, came] = intervalsOf([holder, next]);
    expect(came!.from - held!.to).toBeLessThan(SLACK_MS);
    await cancel(`${owner}-gone`);
  });

  it('keep their order over a pause of the queue that is longer than a lease', async () => {
    const holder = await probe({ ms: 4_000 }, slot(driver, 1));
    await fleet.untilState(holder, 'running');
    const line = await accept(5, { ms: 10 }, () => slot(driver, 1));
    await until(async () => (await queue.getDelayedCount()) === line.length, 'all others stand in line');

    await queue.pause();
    await completed([holder]);
    await pause(LOCK_MS + CHECKS_MS);
    await queue.resume();
    await completed(line);
    expect(intervalsOf(line).map(({ jobId }) => jobId)).toEqual(line);
    expect(mostAtOnce(intervalsOf(line))).toBe(1);
  });

  it('are not lost to a retry that starts at once, while the failed run is still ending', async () => {
    const ids = await accept(20, { ms: 10, failTimes: 2 }, () => slot(driver, 1));
    await completed(ids);
    const running = [...jobFacts(fleet.workers, 'job.began'), ...jobFacts(fleet.workers, 'job.lost')];
    expect(running.filter(({ jobId }) => ids.includes(jobId))).toHaveLength(3 * ids.length);
  });

  it('let a job overtake others only for the slot it waited for, not for its retries', async () => {
    const holder = await probe({ ms: 4_000 }, slot(driver, 1));
    await fleet.untilState(holder, 'running');
    const late = await probe({ ms: 300, failTimes: 1 }, { priority: 200, ...slot(driver, 1) });
    await until(async () => (await fleet.job(late)).state === 'delayed', 'it stands in line');
    expect((await queue.getJob(late))!.priority).toBe(400);
    // Twenty at a time: most are not done when the holder is.
    const others = await accept(150, { ms: 1_000 }, () => ({}));
    await completed([late, ...others]);
    const own = new Set([holder, late, ...others]);
    const begins = jobFacts(fleet.workers, 'job.began')
      .map(({ jobId }) => jobId)
      .filter((jobId) => own.has(jobId));
    // Its first run began before most of them, its second after all except those that began with it.
    expect(begins.indexOf(late)).toBeLessThan(100);
    expect(begins.lastIndexOf(late)).toBeGreaterThan(130);
  });
});

/** A fleet of its own, because the test kills a worker. */
describe('the slots of a key whose holder is killed', () => {
  beforeAll(startFleet);
  afterAll(stopFleet);
  beforeEach(useOwnNames);

  it('pass to the next job within the lease when the worker of their holder is killed', async () => {
    const holder = await probe({ ms: 8_000 }, slot(driver, 1));
    const victim = await workerOf(holder);
    const line = await accept(5, { ms: 10 }, () => slot(driver, 1));
    await until(async () => (await queue.getDelayedCount()) === line.length, 'all others stand in line');

    const killedAt = Date.now();
    victim.kill('SIGKILL');
    await completed([holder, ...line]);

    const begins = jobFacts(fleet.workers, 'job.began').filter(({ time }) => time > killedAt);
    expect(begins[0]!.time - killedAt).toBeLessThan(LOCK_MS + CHECKS_MS + SLACK_MS);
    // The stalled job keeps its place when it returns; the jobs behind it do not wait for that.
    expect(begins.map(({ jobId }) => jobId).filter((jobId) => jobId !== holder)).toEqual(line);
    expect(begins.map(({ jobId }) => jobId)).toContain(holder);
    expect(mostAtOnce(intervalsOf([holder, ...line]).slice(1))).toBe(1);
  }, 60_000);
});

async function startFleet(): Promise<void> {
  fleet = await Fleet.start({ workers: 2, env: { WORKER_LOCK: `${LOCK_MS}ms` } });
  redis = new Redis(fleet.storeUrl, { maxRetriesPerRequest: null });
  queue = new Queue('probe', { connection: redis, prefix: `{${fleet.prefix}}` });
}

async function stopFleet(): Promise<void> {
  await queue.close();
  await redis.quit();
  try {
    await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
  } finally {
    await fleet.stop();
  }
}

function useOwnNames(): void {
  tests += 1;
  owner = `trip:${tests}`;
  driver = `driver:${tests}`;
}

async function untilQueueIsEmpty(): Promise<void> {
  await until(async () => {
    const counts = await queue.getJobCounts('active', 'waiting', 'prioritized', 'delayed');
    return Object.values(counts).every((count) => count === 0);
  }, 'the queue is empty');
}

async function cancel(of: string): Promise<void> {
  const answer = await fleet.request('POST', `/v1/owners/${of.replace(':', '/')}/cancel`);
  expect(answer).toMatchObject({ status: 200 });
}

function probe(payload: object, more: object = {}): Promise<string> {
  return fleet.probe(payload, { owners: [owner], ...more });
}

/** One call for all of them, so that they are accepted in order. */
async function accept(count: number, payload: object, more: (i: number) => object): Promise<string[]> {
  const jobs = Array.from({ length: count }, (_, i) => ({
    kind: 'probe',
    owners: [owner],
    payload,
    ...more(i),
  }));
  const { body } = await fleet.request('POST', '/v1/jobs/batch', { jobs });
  const results = body['results'] as { status: number; id: string }[];
  expect(results.filter(({ status }) => status !== 201)).toEqual([]);
  return results.map(({ id }) => id);
}

/** Waits for the log of the workers first: it costs no process anything. */
async function completed(ids: readonly string[], withinMs?: number): Promise<JobView[]> {
  await until(
    () => {
      const said = new Set(jobFacts(fleet.workers, 'job.completed').map(({ jobId }) => jobId));
      return ids.every((id) => said.has(id));
    },
    'their workers have logged it',
    withinMs,
  );
  return Promise.all(ids.map((id) => fleet.untilState(id, 'completed')));
}

function intervalsOf(ids: readonly string[]): Interval[] {
  return intervals(fleet.workers).filter(({ jobId }) => ids.includes(jobId));
}

function workerOf(id: string): Promise<TestProcess> {
  return until(
    () => fleet.workers.find((worker) => jobFacts([worker], 'job.began').some(({ jobId }) => jobId === id)),
    `a worker has ${id}`,
  );
}

function slot(key: string, limit: number): object {
  return { slot: { key, limit } };
}

function eventsOf({ timeline }: JobView): string[] {
  return timeline.map(({ event }) => event);
}
