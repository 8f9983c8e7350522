import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { addOddWorker, startOdd } from '../support/odd-worker.js';
import { Phone } from '../support/phone.js';
import type { TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

/** A process is killed between a decision about a trip and the jobs that follow from it. */
describe('kill -9 in the middle of a trip', () => {
  let fleet: Fleet;
  let ann: Phone;
  beforeEach(async () => {
    fleet = await Fleet.start({ workers: 1, janitor: true, env: { WORKER_LOCK: '1500ms' } });
    await available(true);
    ann = await Phone.connect(fleet.url, 'ann');
  });
  afterEach(async () => {
    ann.close();
    try {
      await available(false);
      await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
    } finally {
      await fleet.stop();
    }
  });

  it('before its jobs are sent: its drivers are still asked, and it ends in time', async () => {
    const api = await crashingApi('after:trips/create');
    await ask(api, '9s').catch(() => undefined);
    await api.exited;
    const { data } = await until(() => ann.seen[0], 'she is offered it', 15_000);
    await ann.untilSeen('withdrawn', data.tripId, 20_000);
    expect(await trip(data.tripId)).toMatchObject({ status: 'EXPIRED' });
  });

  it('after it was accepted: it stays accepted by one driver, and its jobs end', async () => {
    const id = await offered();
    const api = await crashingApi('after:trips/accept');
    await post(api, `/v1/trips/${id}/accept`, { driverId: 'ann' }).catch(() => undefined);
    await api.exited;
    expect(await trip(id)).toMatchObject({ status: 'ACCEPTED', driverId: 'ann' });
    expect(await openJobs(id)).toBe(1);
    await until(async () => (await openJobs(id)) === 0, 'its timeout is gone', 15_000);
    const again = await fleet.request('POST', `/v1/trips/${id}/accept`, { driverId: 'ann' });
    expect(again.status).toBe(200);
    await fleet.request('POST', `/v1/trips/${id}/complete`);
  });

  it('after it was cancelled: no phone shows it any more, and its jobs end', async () => {
    const id = await offered();
    const api = await crashingApi('after:trips/finish');
    await post(api, `/v1/trips/${id}/cancel`, { reason: 'off' }).catch(() => undefined);
    await api.exited;
    await ann.untilSeen('withdrawn', id, 5_000);
    await until(async () => (await openJobs(id)) === 0, 'its timeout is gone', 15_000);
  });

  it('after it was offered: the request runs again, and the phone shows the offer once', async () => {
    const id = await offeredByTheDead('1500ms');
    await fleet.untilReady(fleet.addWorker());
    await until(async () => (await openJobs(id)) === 1, 'the request has run to its end', 15_000);
    expect(ann.seen).toHaveLength(1);
    await fleet.request('POST', `/v1/trips/${id}/cancel`, {});
  });

  it('after its owner was cancelled, while a dead worker holds one of its jobs: no phone shows it', async () => {
    const id = await offeredByTheDead('1500ms');
    const cancelled = fleet.request('POST', `/v1/owners/trip/${id}/cancel`, { reason: 'off' });
    await ann.untilSeen('withdrawn', id, 1_000);
    await cancelled;
    await fleet.untilReady(fleet.addWorker());
    await until(async () => (await openJobs(id)) === 0, 'its jobs are gone', 15_000);
  });

  it('before any process was told that its owner was cancelled: the reconciler finds it', async () => {
    const deaf = fleet.addApi({ TRIPS: 'off' });
    await fleet.untilReady(deaf);
    const id = await offered();
    // No other process may receive the event.
    const [worker] = fleet.workers;
    worker!.kill('SIGSTOP');
    await post(deaf, `/v1/owners/trip/${id}/cancel`, { reason: 'off' });
    await ann.untilSeen('withdrawn', id, 10_000);
    expect(await trip(id)).toMatchObject({ status: 'CANCELLED' });
    worker!.kill('SIGCONT');
    deaf.kill('SIGTERM');
    await deaf.exited;
  });

  it('after its owner was cancelled but not closed, while a dead worker holds one of its jobs: no phone shows it for long', async () => {
    const id = await offeredByTheDead('30s');
    const api = await crashingApi('after:cancel');
    const order = { reason: 'off', close: false };
    await post(api, `/v1/owners/trip/${id}/cancel`, order).catch(() => undefined);
    await api.exited;
    // The process that resumes the cancel emits the event before the job is given up.
    await ann.untilSeen('withdrawn', id, 20_000);
    expect(await trip(id)).toMatchObject({ status: 'CANCELLED', reason: 'off' });
    expect(await openJobs(id)).toBe(0);
    await until(async () => (await endingJobs(id)) === 1, 'all are gone but what the dead holds');
    await fleet.untilReady(fleet.addWorker());
    await until(async () => (await endingJobs(id)) === 0, 'its jobs are gone', 45_000);
  });

  it('after a driver went offline: earlier requests are withdrawn, later ones are kept', async () => {
    const first = await offered();
    const second = await ask(fleet.api);
    await until(async () => (await openJobs(second)) === 2, 'it waits for her');
    const api = await crashingApi('after:trips/driver');
    await fetch(`${api.url}/v1/drivers/ann`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{"available":false}',
    }).catch(() => undefined);
    await api.exited;
    await ann.untilSeen('withdrawn', first, 1_000);
    const third = await ask(fleet.api);
    await until(async () => (await openJobs(second)) === 1, 'her request is taken back', 15_000);
    await available(true);
    await ann.untilSeen('offer', third);
    expect(ann.saw('offer', second)).toBe(false);
    for (const id of [first, second, third]) await fleet.request('POST', `/v1/trips/${id}/cancel`, {});
  });

  it('after it expired, inside its timeout job: another process does what follows', async () => {
    fleet.workers[0]!.kill('SIGKILL');
    const worker = await addOddWorker(fleet, 'fail-point', {
      FAIL_POINT: 'after:trips/finish',
      WORKER_LOCK: '1500ms',
    });
    // No phone shows the trip, because otherwise the api would end it as fast; the janitors are stopped for the same
    // reason.
    for (const janitor of fleet.janitors) janitor.kill('SIGSTOP');
    const id = await ask(fleet.api, '500ms', ['bob']);
    await worker.exited;
    for (const janitor of fleet.janitors) janitor.kill('SIGCONT');
    expect(await trip(id)).toMatchObject({ status: 'EXPIRED' });
    // A live worker finds the dead worker's job.
    await fleet.untilReady(fleet.addWorker());
    await until(async () => (await openJobs(id)) === 0, 'its jobs are gone', 15_000);
  });

  async function crashingApi(point: string): Promise<TestProcess> {
    const api = startOdd('api', fleet, 'fail-point', { FAIL_POINT: point, PORT: '0' });
    await fleet.untilReady(api);
    return api;
  }

  async function offered(): Promise<string> {
    const id = await ask(fleet.api);
    await ann.untilSeen('offer', id);
    await until(async () => (await openJobs(id)) === 1, 'only its timeout is left');
    return id;
  }

  /** Offered by the only worker, which is then killed and holds the request for the length of its lock. */
  async function offeredByTheDead(lock: string): Promise<string> {
    fleet.workers[0]!.kill('SIGKILL');
    await fleet.workers[0]!.exited;
    const worker = await addOddWorker(fleet, 'fail-point', {
      FAIL_POINT: 'after:trips/offer',
      WORKER_LOCK: lock,
    });
    const id = await ask(fleet.api);
    await ann.untilSeen('offer', id);
    await worker.exited;
    return id;
  }

  async function ask(api: TestProcess, expiresIn = '5m', driverIds = ['ann']): Promise<string> {
    const answer = await post(api, '/v1/trips', { customerId: 'rider', driverIds, expiresIn });
    return ((await answer.json()) as { id: string }).id;
  }

  function post(api: TestProcess, path: string, body: object): Promise<Response> {
    const headers = { 'content-type': 'application/json' };
    return fetch(`${api.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  async function trip(id: string): Promise<object> {
    return (await fleet.request('GET', `/v1/trips/${id}`)).body;
  }

  async function openJobs(id: string): Promise<number> {
    return (await counts(id)).jobs;
  }

  /** Jobs that are cancelled but not removed yet. */
  async function endingJobs(id: string): Promise<number> {
    return (await counts(id)).ending;
  }

  async function counts(id: string): Promise<{ jobs: number; ending: number }> {
    const { body } = await fleet.request('GET', `/v1/owners/trip/${id}`);
    return body['counts'] as { jobs: number; ending: number };
  }

  async function available(is: boolean): Promise<void> {
    await fleet.request('PUT', '/v1/drivers/ann', { available: is });
  }
});
