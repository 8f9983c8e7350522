import type { ReceiptView } from '#nestjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { jobFacts } from '../support/life-facts.js';
import { until } from '../support/until.js';

describe('kill -9 of the only worker, after it was told of a cancel', () => {
  let fleet: Fleet;
  beforeEach(async () => {
    fleet = await Fleet.start({ workers: 1, env: { WORKER_LOCK: '2s' } });
  });
  afterEach(async () => {
    await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
    await fleet.stop();
  });

  it('leaves a job that never runs again and is counted once in the receipt', async () => {
    const id = await fleet.probe({ ms: 60_000, ignoreAbort: true });
    await until(() => begins().length === 1, 'it runs');
    const body = { reason: 'over', cancelId: 'c-1' };
    const told = (await fleet.request('POST', '/v1/owners/trip/42/cancel', body)).body;
    expect(told).toMatchObject({ removed: 0, aborted: 1, running: 1, done: false });
    fleet.workers[0]!.kill('SIGKILL');

    const receipt = await until(async () => {
      const found = (await fleet.request('GET', '/v1/cancellations/c-1')).body as unknown as ReceiptView;
      return found.done && found;
    }, 'the receipt is done');
    expect(receipt).toEqual({
      ...told,
      running: 0,
      byQueue: { probe: { removed: {}, aborted: 1, running: 0 } },
      done: true,
    });
    expect(await fleet.job(id)).toMatchObject({
      state: 'cancelled',
      error: 'its owner was cancelled while it ran',
    });
    await fleet.untilReady(fleet.addWorker());
    expect(begins()).toHaveLength(1);
  });

  function begins(): unknown[] {
    return jobFacts(fleet.workers, 'job.began');
  }
});
