import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordOf } from '../support/cancel-door.js';
import { Fleet } from '../support/fleet.js';
import { leftovers, untilNothingIsLeft } from '../support/leftovers.js';
import { jobFacts } from '../support/life-facts.js';
import { addOddWorker } from '../support/odd-worker.js';
import { until } from '../support/until.js';

const LOCK_MS = 1_500;
/** What this machine may take to do what it was told. */
const SLACK_MS = 5_000;

/** A worker dies between two steps of a run; the next one finds what it left, and finishes it. */
describe('kill -9 of a worker', () => {
  let fleet: Fleet;
  let redis: Redis;
  let dies: Awaited<ReturnType<typeof addOddWorker>>;
  beforeEach(async () => {
    fleet = await Fleet.start({ workers: 0, env: { WORKER_LOCK: `${LOCK_MS}ms` } });
    redis = new Redis(fleet.storeUrl);
  });
  afterEach(async () => {
    await redis.quit();
    await fleet.stop();
  });

  it.each([
    ['between its begin and its handler', 'after:begin', 0],
    ['between its handler and its commit', 'before:commit', 1],
  ])('%s: the job runs again', async (_, point, ranBefore) => {
    const id = await die(point);
    // What it said last may reach us after its death.
    await until(() => timesRanToItsEnd(id) === ranBefore, 'its last words are read');
    await takeOver();

    expect(await fleet.untilState(id, 'completed')).toMatchObject({ attempts: 1, result: { attempt: 1 } });
    expect(timesRanToItsEnd(id)).toBe(ranBefore + 1);
    await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
  });

  it('between its commit and the end in BullMQ: the job completes with what was committed, and is not run again', async () => {
    const id = await die('after:commit');
    const committed = JSON.parse((await redis.hget(`${recordOf(fleet.prefix, 'trip:42')}:done`, id))!);
    await takeOver();

    const job = await fleet.untilState(id, 'completed');
    expect(job).toMatchObject({ attempts: 1, result: committed });
    expect(timesRanToItsEnd(id)).toBe(1);
    await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
  });

  it('between its commit and that of its artifacts: they are to be seen when the job completes, and once', async () => {
    const id = await die('after:commit', { payload: { ms: 20, artifactBytes: 9 } });
    expect(await fleet.job(id)).toMatchObject({ artifacts: [] });
    await takeOver();
    await fleet.untilState(id, 'completed');
    expect(await fleet.job(id)).toMatchObject({ artifacts: [{ name: 'probe.bin', size: 9 }] });
    expect(timesRanToItsEnd(id)).toBe(1);
  });

  it('between the end in BullMQ and its own: the job has completed, and what is left is for the repair sweep', async () => {
    const id = await die('before:end');
    expect(await fleet.job(id)).toMatchObject({ state: 'completed', attempts: 1, result: { attempt: 1 } });

    const record = recordOf(fleet.prefix, 'trip:42');
    expect(await leftovers(redis, fleet.prefix)).toEqual(
      [
        `${record} does not expire`,
        `${record} has j${id}`,
        `${record}:done is there`,
        `${record}:runs is there`,
      ].toSorted((a, b) => a.localeCompare(b)),
    );
    // It runs no more, and nobody takes it to run: its lease ends by itself.
    await takeOver();
    await until(
      async () => Number((await redis.zrange(`${record}:runs`, '0', '0', 'WITHSCORES'))[1]) < Date.now(),
      'its lease is over',
    );
    expect(timesRanToItsEnd(id)).toBe(1);
  });

  it('between the end in BullMQ and giving its slot back: the next runs within a lease, also when it was not the next before', async () => {
    const slot = { slot: { key: 'driver:7', limit: 1 } };
    const ends = fleet.addWorker();
    await fleet.untilReady(ends);
    const holder = await fleet.probe({ ms: 60_000 }, slot);
    await fleet.untilState(holder, 'running');
    const line = [await fleet.probe({ ms: 20 }, slot), await fleet.probe({}, slot)] as const;
    for (const id of line) await fleet.untilState(id, 'delayed');
    dies = await addOddWorker(fleet, 'fail-point', { FAIL_POINT: 'before:end', WORKER_LOCK: `${LOCK_MS}ms` });
    ends.kill('SIGTERM');
    const isReady = (): Promise<boolean> =>
      fetch(`${ends.url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until(async () => !(await isReady()), 'it takes nothing more');
    await fleet.request('DELETE', `/v1/jobs/${holder}`);
    expect(await dies.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(await fleet.job(line[0])).toMatchObject({ state: 'completed' });

    await takeOver();
    await fleet.untilState(line[1], 'completed', LOCK_MS + SLACK_MS);
  }, 60_000);

  it('between taking a slot and its begin: the job gets its slot again, and those behind it theirs', async () => {
    const slot = { slot: { key: 'driver:7', limit: 1 } };
    const id = await die('after:take', slot);
    const next = await fleet.probe({}, slot);
    await takeOver();
    expect(await fleet.untilState(id, 'completed')).toMatchObject({ attempts: 1 });
    expect(await fleet.untilState(next, 'completed')).toMatchObject({ attempts: 1 });
    await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
  });

  it('each time: the job ends failed, not for ever, and leaves neither entry nor slot', async () => {
    const id = await fleet.probe({ ms: 50, exit: true }, { slot: { key: 'driver:7', limit: 1 } });
    const next = await fleet.probe({}, { owners: ['trip:next'], slot: { key: 'driver:7', limit: 1 } });
    let deaths = 0;
    for (; deaths < 4; deaths += 1) {
      const worker = fleet.addWorker();
      await worker.exited;
    }
    await takeOver();
    expect(await fleet.untilState(id, 'failed')).toMatchObject({
      error: 'job stalled more than allowable limit',
    });
    expect(jobFacts(fleet.workers, 'job.began').filter(({ jobId }) => jobId === id)).toHaveLength(4);
    expect(await fleet.untilState(next, 'completed')).toMatchObject({ attempts: 1 });
    await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
  });

  /** Runs one job in a worker that dies at a point; answers the job. */
  async function die(point: string, more: object = {}): Promise<string> {
    dies = await addOddWorker(fleet, 'fail-point', { FAIL_POINT: point, WORKER_LOCK: `${LOCK_MS}ms` });
    const id = await fleet.probe({ ms: 20 }, more);
    expect(await dies.exited).toEqual({ code: null, signal: 'SIGKILL' });
    return id;
  }

  function takeOver(): Promise<void> {
    return fleet.untilReady(fleet.addWorker());
  }

  function timesRanToItsEnd(id: string): number {
    return fleet.workers
      .flatMap((worker) => worker.facts())
      .filter(({ msg, jobId }) => msg === 'Ran to its end.' && jobId === id).length;
  }
});
