import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { jobFacts, mostAtOnce, type Interval } from '../support/life-facts.js';
import type { TestProcess } from '../support/process.js';
import { TestStore } from '../support/store.js';
import { until } from '../support/until.js';

type Fact = ReturnType<typeof jobFacts>[number];

const LOCK_MS = 2_000;

/** F1, F2: a worker has lost a job and does not know it yet. The result of its run must not be committed. */
describe('a run that was overtaken', () => {
  let store: TestStore;
  let redis: Redis;
  let fleet: Fleet;
  beforeEach(async () => {
    store = await TestStore.start();
    redis = new Redis(store.url, { maxRetriesPerRequest: null });
    fleet = await start();
  });
  afterEach(async () => {
    try {
      await untilNothingIsLeft(store.url, fleet.prefix);
    } finally {
      await fleet.stop();
      await redis.quit();
      await store.stop();
    }
  });

  it('while its worker was frozen commits nothing', async () => {
    const id = await fleet.probe({ ms: 3_000 });
    const frozen = await workerOf(id);
    frozen.kill('SIGSTOP');
    const other = fleet.workers.find((worker) => worker !== frozen)!;
    await until(() => jobFacts([other], 'job.began').length === 1, 'the other has taken it over');
    frozen.kill('SIGCONT');

    await until(() => jobFacts([frozen], 'job.lost').length === 1, 'the frozen one is told');
    await expectOneEndOf(id, other);
  });

  it('while its worker was frozen commits nothing, even if its handler had just ended', async () => {
    // It has no steps left, so it continues straight to its commit.
    const id = await fleet.probe({ ms: 8_000, ignoreAbort: true });
    const frozen = await workerOf(id);
    await until(async () => (await fleet.job(id)).progress === 90, 'its last step is under way');
    frozen.kill('SIGSTOP');
    const other = fleet.workers.find((worker) => worker !== frozen)!;
    await until(() => jobFacts([other], 'job.began').length === 1, 'the other has taken it over');
    frozen.kill('SIGCONT');
    await until(() => jobFacts([frozen], 'job.lost').length === 1, 'the frozen one is told');
    await expectOneEndOf(id, other);
  });

  it('by the loss of its lock is told so, and another worker runs the job', async () => {
    // If the same worker fetched the job again, it would find it busy, and the first run would commit.
    await fleet.stop();
    fleet = await start({ WORKER_CONCURRENCY: '1' });
    const id = await fleet.probe({ ms: 3_000 });
    await workerOf(id);
    expect(await redis.del(`{${fleet.prefix}}:probe:${id}:lock`)).toBe(1);

    await until(() => jobFacts(fleet.workers, 'job.lost').length > 0, 'the first run is told');
    await fleet.untilState(id, 'completed');
    await expectOneEndOf(id);
  });

  it('by a store that accepts no writes for longer than a lease is committed once', async () => {
    const id = await fleet.probe({ ms: 2_500 });
    await workerOf(id);
    await redis.call('CLIENT', 'PAUSE', String(LOCK_MS + 1_500), 'WRITE');

    await fleet.untilState(id, 'completed', 20_000);
    await expectOneEndOf(id);
  });

  it('keeps its slot: no other job runs on its key meanwhile', async () => {
    const slot = { slot: { key: 'driver:7', limit: 1 } };
    const id = await fleet.probe({ ms: 6_000 }, slot);
    await workerOf(id);
    const next = await fleet.probe({}, slot);
    await until(async () => (await fleet.job(next)).state === 'delayed', 'the next stands in line');
    expect(await redis.del(`{${fleet.prefix}}:probe:${id}:lock`)).toBe(1);

    const { result } = await fleet.untilState(id, 'completed', 20_000);
    const { ranMs } = result as { ranMs: number };
    await fleet.untilState(next, 'completed', 20_000);
    // The first run is told, and the worker that fetches the job again runs it. The output of workers may arrive in any
    // order.
    const [begins, ends] = await until(() => {
      const [began, lost, completed] = (['job.began', 'job.lost', 'job.completed'] as const).map((event) =>
        jobFacts(fleet.workers, event),
      ) as [Fact[], Fact[], Fact[]];
      return completed.length === 2 && began.length === 2 + lost.length && [began, [...lost, ...completed]];
    }, 'each run has begun and ended');
    const runs = begins.map<Interval>(({ jobId, pid, time: from }) => {
      const own = ends.filter((end) => end.jobId === jobId && end.time >= from && end.pid === pid);
      // A job that is completed later, with the stored result of its run, had ended before: its slot was free then.
      return { jobId, from, to: Math.min(from + ranMs, ...own.map(({ time }) => time)) };
    });
    // Both runs of the first job continue until the renewal of the lock stops the older one. The slot belongs to that
    // job all the time.
    const held = [id, next].map((jobId) => {
      const own = runs.filter((run) => run.jobId === jobId);
      return {
        jobId,
        from: Math.min(...own.map(({ from }) => from)),
        to: Math.max(...own.map(({ to }) => to)),
      };
    });
    expect(mostAtOnce(held)).toBe(1);
  });

  function start(env: NodeJS.ProcessEnv = {}): Promise<Fleet> {
    return Fleet.start({ storeUrl: store.url, workers: 2, env: { WORKER_LOCK: `${LOCK_MS}ms`, ...env } });
  }

  function workerOf(id: string): Promise<TestProcess> {
    return until(
      () => fleet.workers.find((worker) => jobFacts([worker], 'job.began').some(({ jobId }) => jobId === id)),
      `a worker has ${id}`,
    );
  }

  async function expectOneEndOf(id: string, by?: TestProcess): Promise<void> {
    expect(await fleet.untilState(id, 'completed')).toMatchObject({
      attempts: 1,
      result: { attempt: 1, ranMs: expect.any(Number) },
    });
    const ends = await until(() => {
      const completed = jobFacts(fleet.workers, 'job.completed');
      return completed.length > 0 && completed;
    }, 'a worker says that it completed');
    expect(ends.map(({ jobId }) => jobId)).toEqual([id]);
    if (by) expect(ends[0]!.pid).toBe(by.pid);
    expect(jobFacts(fleet.workers, 'job.failed')).toEqual([]);
  }
});
