import { Redis } from 'ioredis';
import { Queue } from 'bullmq';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JobView } from '#nestjs';
import { Fleet } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { addOddWorker } from '../support/odd-worker.js';
import { until } from '../support/until.js';

const HOUR_MS = 3_600_000;
const CLOCKS = [
  ['right', 0],
  ['an hour ahead', HOUR_MS],
  ['an hour behind', -HOUR_MS],
] as const;

/**
 * The three run at once, because their tests mostly wait. Each has a fleet, on which its tests run one after the other.
 */
describe.concurrent.each(CLOCKS)('the expiry of jobs, with a worker whose clock is %s', (_, shiftMs) => {
  let fleet: Fleet;
  let redis: Redis;
  let queue: Queue;
  /** The owner of the current test. */
  let owner: string;
  let tests = 0;
  beforeAll(async () => {
    fleet = await Fleet.start({ workers: 0 });
    redis = new Redis(fleet.storeUrl, { maxRetriesPerRequest: null });
    queue = new Queue('probe', { connection: redis, prefix: `{${fleet.prefix}}` });
    await addOddWorker(fleet, 'clock-shift', { CLOCK_SHIFT_MS: String(shiftMs), WORKER_CONCURRENCY: '1' });
    // Three fleets start at once on a busy machine: the api must still be ready now.
    await fleet.untilReady(fleet.api);
  });
  beforeEach(() => {
    tests += 1;
    owner = `trip:${tests}`;
  });
  afterEach(async () => {
    await queue.resume();
    try {
      await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
    } finally {
      await fleet.request('POST', `/v1/owners/${owner.replace(':', '/')}/cancel`);
    }
  });
  afterAll(async () => {
    await queue.close();
    await redis.quit();
    await fleet.stop();
  });

  it.sequential('expires a job that starts too late and runs one that starts in time', async () => {
    await queue.pause();
    const late = await probe({}, { expiresIn: '300ms' });
    const added = await storeTime();
    const early = await probe({}, { expiresIn: '5m' });
    await untilStoreTime(added + 300);
    await queue.resume();

    expect(await ended(early)).toMatchObject({ state: 'completed', attempts: 1 });
    expect(await ended(late)).toMatchObject({
      state: 'expired',
      attempts: 0,
      result: null,
      error: 'it did not start in time',
    });
    expect(begun()).toEqual([early]);
  });

  it.sequential('runs a job that triggers joined for longer than each of them allows', async () => {
    const busy = await probe({ ms: 7_000 });
    await fleet.untilState(busy, 'running');
    const trigger = { owners: [owner], dedup: { strategy: 'skip' }, expiresIn: '3s' };
    const id = await probe({}, trigger);
    const isAsked = async (): Promise<boolean> => {
      const { status } = await fleet.request('POST', '/v1/jobs', {
        kind: 'probe',
        payload: {},
        ...trigger,
      });
      expect([200, 201]).toContain(status);
      return (await fleet.job(id)).state === 'completed';
    };
    await until(isAsked, 'it has completed');
    expect(await fleet.job(id)).toMatchObject({ state: 'completed', attempts: 1 });
    expect(begun().slice(0, 2)).toEqual([busy, id]);
  });

  it.sequential('expires a retry that starts too late', async () => {
    // Its retries wait 200 ms each.
    const id = await probe({ ms: 3_000, failTimes: 9 }, { expiresIn: '2s' });

    const job = await ended(id);
    expect(job).toMatchObject({ state: 'expired', result: null });
    expect(begun()).toEqual([id]);
    // Compared as a set, because the timeline mixes the worker's clock with the clock of this machine.
    expect(new Set(eventsOf(job))).toEqual(new Set(['accepted', 'began', 'failed', 'retrying', 'expired']));
  });

  it.sequential('ends with the job: when an operator retries it by hand, it runs', async () => {
    const id = await probe({ failTimes: 3 }, { expiresIn: '6s' });
    const added = await storeTime();
    const failed = await fleet.untilState(id, 'failed');
    expect(failed).toMatchObject({ attempts: 3 });
    await untilStoreTime(added + 6_000);

    await (await queue.getJob(id))!.retry('failed');
    expect(await fleet.untilState(id, 'completed')).toMatchObject({ attempts: 4 });
    expect(begun()).toEqual([id, id, id, id]);
  });

  function ended(id: string): Promise<JobView> {
    return until(async () => {
      const job = await fleet.job(id);
      return ['completed', 'failed', 'expired'].includes(job.state) && job;
    }, `${id} has ended`);
  }

  function probe(payload: object, more: object = {}): Promise<string> {
    return fleet.probe(payload, { owners: [owner], ...more });
  }

  /** The starts of the test's owner, from the log of its one worker. */
  function begun(): unknown[] {
    const facts = fleet.workers[0]!.facts();
    return facts
      .filter((fact) => fact['event'] === 'job.began' && fact['owner'] === owner)
      .map(({ jobId }) => jobId);
  }

  /** The expiry follows the store's clock, so the test waits by that clock. */
  async function untilStoreTime(ms: number): Promise<void> {
    await until(async () => (await storeTime()) > ms, 'it is too late');
  }

  async function storeTime(): Promise<number> {
    const [seconds = 0, micros = 0] = await redis.time();
    return seconds * 1_000 + Math.floor(micros / 1_000);
  }
});

function eventsOf({ timeline }: JobView): string[] {
  return timeline.map(({ event }) => event);
}
