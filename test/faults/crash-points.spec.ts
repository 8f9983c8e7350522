import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { jobFacts } from '../support/life-facts.js';
import { startOdd } from '../support/odd-worker.js';
import { until } from '../support/until.js';

const LOCK_MS = 1_500;
/** How long this machine may take to react. */
const SLACK_MS = 5_000;

/** A worker is killed between two steps of a run; the next worker finds the job and finishes it. */
describe('kill -9 of a worker', () => {
  let fleet: Fleet;
  beforeEach(async () => {
    fleet = await Fleet.start({ workers: 0, env: { WORKER_LOCK: `${LOCK_MS}ms` } });
  });
  afterEach(() => fleet.stop());

  it.each([
    ['between its fetch and its handler', 'after:moveToActive', 0],
    ['between its handler and its end', 'before:finish', 1],
  ])('%s: the job runs again', async (_, point, ranBefore) => {
    const id = await die(point);
    // The last output of the worker may arrive after its death.
    await until(() => timesRanToItsEnd(id) === ranBefore, 'its last output is read');
    await takeOver();

    expect(await fleet.untilState(id, 'completed')).toMatchObject({ attempts: 1, result: { attempt: 1 } });
    expect(timesRanToItsEnd(id)).toBe(ranBefore + 1);
    await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
  });

  it('before its answer to the end of a run: the job is completed, with its artifacts, and does not run again', async () => {
    const id = await die('after:finish', { payload: { ms: 20, artifactBytes: 9 } });
    const ended = {
      state: 'completed',
      attempts: 1,
      result: { attempt: 1 },
      artifacts: [{ name: 'probe.bin', size: 9 }],
    };
    expect(await fleet.job(id)).toMatchObject(ended);

    await takeOver();
    expect(await fleet.job(id)).toMatchObject(ended);
    expect(timesRanToItsEnd(id)).toBe(1);
  });

  it('between its handler and its end: only the artifacts of the next run are visible', async () => {
    const id = await die('before:finish', { payload: { ms: 20, artifactBytes: 9 } });
    expect(await fleet.job(id)).toMatchObject({ artifacts: [] });
    await takeOver();
    await fleet.untilState(id, 'completed');
    expect(await fleet.job(id)).toMatchObject({ artifacts: [{ name: 'probe.bin', size: 9 }] });
    expect(timesRanToItsEnd(id)).toBe(2);
  });

  it.each([
    ['between its handler and its end', 'before:finish'],
    ['before its answer to the end of a run', 'after:finish'],
  ])(
    '%s: the next job in line gets the slot within a lease',
    async (_, point) => {
      const slot = { slot: { key: 'driver:7', limit: 1 } };
      const first = await fleet.probe({ ms: 1_000 }, slot);
      const next = await fleet.probe({}, slot);
      const dying = dieAt(point);
      await until(async () => (await fleet.job(next)).state === 'delayed', 'it stands in line');
      await dying;

      await takeOver();
      await fleet.untilState(next, 'completed', LOCK_MS + SLACK_MS);
      expect(await fleet.untilState(first, 'completed')).toMatchObject({ attempts: 1 });
      await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
    },
    60_000,
  );

  it('between its fetch and its handler: the job gets its slot again, and then the jobs behind it', async () => {
    const slot = { slot: { key: 'driver:7', limit: 1 } };
    const id = await die('after:moveToActive', slot);
    const next = await fleet.probe({}, slot);
    await takeOver();
    expect(await fleet.untilState(id, 'completed')).toMatchObject({ attempts: 1 });
    expect(await fleet.untilState(next, 'completed')).toMatchObject({ attempts: 1 });
    await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
  });

  it('at each run of a job: the job fails in the end, and leaves neither entry nor slot', async () => {
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

  /** Runs one job in a worker that is killed at `point`; returns the id of the job. */
  async function die(point: string, more: object = {}): Promise<string> {
    const id = await fleet.probe({ ms: 20 }, more);
    await dieAt(point);
    return id;
  }

  /** The job is enqueued before the worker starts, because the crash point is the first command of its kind. */
  async function dieAt(point: string): Promise<void> {
    const env = { FAIL_POINT: point, WORKER_LOCK: `${LOCK_MS}ms` };
    const dies = startOdd('worker', fleet, 'fail-point', env);
    fleet.workers.push(dies);
    expect(await dies.exited).toEqual({ code: null, signal: 'SIGKILL' });
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
