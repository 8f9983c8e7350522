import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { jobFacts } from '../support/life-facts.js';
import { startOdd } from '../support/odd-worker.js';
import { until } from '../support/until.js';

const LOCK_MS = 1_500;
/** What this machine may take to do what it was told. */
const SLACK_MS = 5_000;

/** A worker dies between two steps of a run; the next one finds what it left, and finishes it. */
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
    // What it said last may reach us after its death.
    await until(() => timesRanToItsEnd(id) === ranBefore, 'its last words are read');
    await takeOver();

    expect(await fleet.untilState(id, 'completed')).toMatchObject({ attempts: 1, result: { attempt: 1 } });
    expect(timesRanToItsEnd(id)).toBe(ranBefore + 1);
    await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
  });

  it('before its answer to the end of a run: the job has completed, with its artifacts, and runs no more', async () => {
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

  it('between its handler and its end: the artifacts of the next run are to be seen, and once', async () => {
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
    '%s: the next in line has the slot within a lease',
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

  it('between its fetch and its handler: the job has its slot again, and those behind it theirs', async () => {
    const slot = { slot: { key: 'driver:7', limit: 1 } };
    const id = await die('after:moveToActive', slot);
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
    const id = await fleet.probe({ ms: 20 }, more);
    await dieAt(point);
    return id;
  }

  /** The job is there before the worker: a point is the first of its kind. */
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
