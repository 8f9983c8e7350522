import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Fleet, type Answer } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { Phone } from '../support/phone.js';
import { until } from '../support/until.js';

const SOON_MS = 1_000;

/** Rare calls, and calls at the same moment as others. */
class Street {
  readonly phones: Phone[] = [];
  readonly drivers = new Set<string>();

  constructor(readonly fleet: Fleet) {}

  async leave(): Promise<void> {
    for (const phone of this.phones) phone.close();
    for (const driverId of this.drivers) await this.available(driverId, false);
    await untilNothingIsLeft(this.fleet.storeUrl, this.fleet.prefix);
  }

  async drive(driverId: string): Promise<Phone> {
    await this.available(driverId, true);
    return this.phone(driverId);
  }

  async phone(driverId: string): Promise<Phone> {
    const phone = await Phone.connect(this.fleet.url, driverId);
    this.phones.push(phone);
    return phone;
  }

  available(driverId: string, is: boolean): Promise<Answer> {
    this.drivers.add(driverId);
    return this.fleet.request('PUT', `/v1/drivers/${driverId}`, { available: is });
  }

  ask(driverIds: string[], headers: Record<string, string> = {}): Promise<Answer> {
    return this.fleet.request('POST', '/v1/trips', { customerId: 'rider', driverIds }, headers);
  }

  async asked(...driverIds: string[]): Promise<string> {
    const { status, body } = await this.ask(driverIds);
    expect({ status, body }).toMatchObject({ status: 201 });
    return String(body['id']);
  }

  post(path: string, body: object = {}): Promise<Answer> {
    return this.fleet.request('POST', path, body);
  }

  accept(id: string, driverId: string): Promise<Answer> {
    return this.post(`/v1/trips/${id}/accept`, { driverId });
  }

  async cancel(id: string): Promise<void> {
    expect(await this.post(`/v1/trips/${id}/cancel`, { reason: 'off' })).toMatchObject({ status: 200 });
  }

  async trip(id: string): Promise<Answer['body']> {
    return (await this.fleet.request('GET', `/v1/trips/${id}`)).body;
  }

  async jobsOf(owner: string): Promise<{ id: string; queue: string }[]> {
    const { body } = await this.fleet.request('GET', `/v1/owners/${owner}`);
    return body['jobs'] as { id: string; queue: string }[];
  }
}

describe('trips in rare situations', () => {
  let fleet: Fleet;
  let street: Street;
  beforeAll(async () => {
    fleet = await Fleet.start();
  });
  afterAll(() => fleet.stop());
  beforeEach(() => {
    street = new Street(fleet);
  });
  afterEach(() => street.leave());

  it('stay accepted when the sweep finds their owner gone', async () => {
    const janitor = fleet.addJanitor({ ORPHAN_SWEEP_EVERY: '100ms', OWNER_GRACE: '500ms', SWEEP_LOCK: '1s' });
    await fleet.untilReady(janitor);
    const ann = await street.drive('ann');
    const id = await street.asked('ann');
    await ann.untilSeen('offer', id);
    expect((await street.accept(id, 'ann')).status).toBe(200);
    await street.post(`/v1/owners/trip/${id}/reopen`);
    const lost = await fleet.probe({}, { owners: [`trip:${id}`], delay: '1h' });
    expect((await fleet.untilState(lost, 'removed')).error).toMatch(/^orphan by janitor/);
    janitor.kill('SIGTERM');
    expect((await janitor.exited).code).toBe(0);
    expect(await street.trip(id)).toMatchObject({ status: 'ACCEPTED', driverId: 'ann' });
    await street.cancel(id);
  });

  it('cannot be accepted once their owner is closed, even if no process received the event', async () => {
    const deaf = fleet.addApi({ TRIPS: 'off' });
    await fleet.untilReady(deaf);
    const ann = await street.drive('ann');
    const id = await street.asked('ann');
    await ann.untilSeen('offer', id);
    const cancelled = await fetch(`${deaf.url}/v1/owners/trip/${id}/cancel`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"reason":"off"}',
    });
    expect(cancelled.status).toBe(200);
    expect(await street.accept(id, 'ann')).toMatchObject({
      status: 409,
      body: { code: 'TRIP_NOT_TO_BE_HAD' },
    });
    expect(await street.trip(id)).toMatchObject({ status: 'CANCELLED' });
    await ann.untilSeen('withdrawn', id, SOON_MS);
    deaf.kill('SIGTERM');
    await deaf.exited;
  });

  it('are created again for a key whose trip has expired from the store', async () => {
    const headers = { 'idempotency-key': 'ride-again' };
    const first = String((await street.ask(['ann'], headers)).body['id']);
    await street.cancel(first);
    expect((await street.ask(['ann'], headers)).body).toMatchObject({ id: first, status: 'CANCELLED' });
    // A day later.
    const redis = new Redis(fleet.storeUrl);
    const root = `${fleet.prefix}:{trips}`;
    const [key] = await redis.keys(`${root}:key:*`);
    const [ofKey, ofTrip] = (await redis.multi().pttl(key!).pttl(`${root}:trip:${first}`).exec())!;
    expect(Math.abs(Number(ofKey![1]) - Number(ofTrip![1]))).toBeLessThan(50);
    await redis.unlink(key!, `${root}:trip:${first}`);
    await redis.quit();

    const ann = await street.drive('ann');
    const { body } = await street.ask(['ann'], headers);
    expect(body['id']).not.toBe(first);
    await ann.untilSeen('offer', String(body['id']), SOON_MS);
    await street.cancel(String(body['id']));
  });

  it('are not blocked by a request that has ended', async () => {
    const ann = await street.drive('ann');
    const first = await street.asked('ann');
    await ann.untilSeen('offer', first);
    const line = [await street.asked('ann'), await street.asked('ann'), await street.asked('ann')];
    const requests: string[] = [];
    for (const id of line) {
      const { id: jobId } = (await street.jobsOf(`trip/${id}`)).find(
        ({ queue }) => queue === 'trip-requests',
      )!;
      await fleet.untilState(jobId, 'delayed');
      requests.push(jobId);
    }
    for (const jobId of requests.slice(0, 2)) await fleet.request('DELETE', `/v1/jobs/${jobId}`);
    await street.cancel(first);
    await ann.untilSeen('offer', line[2]!, SOON_MS);
    expect(ann.offered).toBe(line[2]);
    for (const id of line) await street.cancel(id);
  });

  it('are removed from the other phones of the driver who accepts', async () => {
    const ann = await street.drive('ann');
    const second = await street.phone('ann');
    const id = await street.asked('ann');
    await Promise.all([ann, second].map((phone) => phone.untilSeen('offer', id)));
    expect((await street.accept(id, 'ann')).status).toBe(200);
    expect((await second.untilSeen('accepted', id, SOON_MS)).data).toEqual({ tripId: id });
    await street.cancel(id);
    expect((await second.untilSeen('withdrawn', id, SOON_MS)).data.reason).toBe('off');
  });

  it("lose the offers and requests of a driver who goes offline, and the driver's other jobs continue", async () => {
    const own = await fleet.probe({}, { owners: ['driver:ann'], delay: '1h' });
    const redis = new Redis(fleet.storeUrl);
    const ann = await street.drive('ann');
    const first = await street.asked('ann');
    await ann.untilSeen('offer', first);
    await street.asked('ann');
    const lines = async (): Promise<number> => (await street.jobsOf('driver/ann')).length;
    await until(async () => (await lines()) === 2, 'the second waits');
    await street.available('ann', false);
    // A running job is told to stop at once and is removed when it has ended.
    const left = async (): Promise<string> => (await street.jobsOf('driver/ann')).map(({ id }) => id).join();
    await until(async () => (await left()) === own, 'her requests are gone');
    expect(await fleet.job(own)).toMatchObject({ state: 'delayed' });

    const receipts = async (): Promise<number> => (await redis.keys(`{${fleet.prefix}}~receipt~*`)).length;
    const before = await receipts();
    await street.available('idle', true);
    await street.available('idle', false);
    expect(await receipts()).toBe(before);
    await redis.quit();
    await fleet.request('DELETE', `/v1/jobs/${own}`);
    for (const id of await open()) await street.cancel(id);
  });

  it("are no longer offered to an available driver whose owner is closed, and the driver's record is removed", async () => {
    const redis = new Redis(fleet.storeUrl);
    const record = (driverId: string): string => `${fleet.prefix}:{trips}:driver:${driverId}`;
    const dan = await street.drive('dan');
    const id = await street.asked('dan');
    await dan.untilSeen('offer', id);
    await street.post('/v1/owners/driver/dan/cancel', { reason: 'moved', close: false });
    await street.post('/v1/owners/driver/zoe/cancel', { reason: 'suspended' });
    for (const reason of ['suspended', 'suspended once more']) {
      expect(await redis.hget(record('dan'), 'available')).toBe(reason === 'suspended' ? '1' : '0');
      await street.post('/v1/owners/driver/dan/cancel', { reason });
      await until(async () => (await redis.pttl(record('dan'))) > 0, 'his record is to go');
    }
    expect((await dan.untilSeen('withdrawn', id, SOON_MS)).data.reason).toBe('offline');
    expect(await redis.hgetall(record('dan'))).toEqual({ available: '0' });
    expect(await redis.exists(record('zoe'))).toBe(0);
    await until(
      async () => (await redis.zscore(`${fleet.prefix}:{trips}:away`, 'dan')) === null,
      'he is gone',
    );
    await street.cancel(id);
    await redis.quit();
  });

  it('cannot be offered to a driver whose owner is closed, and the driver is told', async () => {
    await street.post('/v1/owners/driver/bob/cancel', { reason: 'suspended' });
    expect(await street.available('bob', true)).toMatchObject({
      status: 409,
      body: { code: 'OWNER_CLOSED' },
    });
    expect((await street.available('bob', false)).status).toBe(200);
    await street.post('/v1/owners/driver/bob/reopen');
    expect((await street.available('bob', true)).status).toBe(200);
  });

  it('answer HEAD, and refuse invalid keys and ids', async () => {
    const head = await fetch(`${fleet.url}/v1/drivers/ann/offers`, {
      method: 'HEAD',
      signal: AbortSignal.timeout(2_000),
    });
    expect([head.status, head.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    for (const key of ['', 'k'.repeat(513)])
      expect(await street.ask(['ann'], { 'idempotency-key': key })).toMatchObject({
        status: 400,
        body: { code: 'INVALID' },
      });
    expect((await street.ask(['間'.repeat(200)])).status).toBe(400);
  });

  /** Ends trips that a test left open. */
  async function open(): Promise<string[]> {
    const redis = new Redis(fleet.storeUrl);
    const keys = await redis.keys(`${fleet.prefix}:{trips}:trip:*`);
    const pending: string[] = [];
    for (const key of keys)
      if ((await redis.hget(key, 'status')) === 'PENDING') pending.push(key.slice(key.lastIndexOf(':') + 1));
    await redis.quit();
    return pending;
  }
});

describe('trips with a full queue', () => {
  let fleet: Fleet;
  let street: Street;
  beforeAll(async () => {
    fleet = await Fleet.start({ janitor: true, env: { MAX_WAITING: '4' } });
    street = new Street(fleet);
  });
  afterAll(() => fleet.stop());

  it('are refused each time, whatever the key', async () => {
    for (let i = 0; i < 2; i += 1) {
      const answer = await street.ask(['a', 'b', 'c', 'd', 'e'], { 'idempotency-key': 'many' });
      expect(answer).toMatchObject({ status: 429, body: { code: 'QUEUE_FULL' } });
    }
    await street.leave();
  });

  it('are still accepted, and the replaced offer returns once there is room', async () => {
    const ann = await street.drive('ann');
    const first = await street.asked('ann');
    await ann.untilSeen('offer', first);
    await street.available('ann', false);
    await street.available('ann', true);
    const second = await street.asked('ann');
    await ann.untilSeen('offer', second);
    // While one of them runs there is room for another.
    await street.post('/v1/admin/queues/trip-requests/pause');
    const filling = await street.asked('w', 'x', 'y', 'z');

    expect(await street.accept(first, 'ann')).toMatchObject({ status: 200, body: { driverId: 'ann' } });
    await until(() => /stays due for the reconciler/.test(fleet.api.output), 'there is no room');
    await street.post('/v1/admin/queues/trip-requests/resume');
    expect((await ann.untilSeen('withdrawn', second, SOON_MS)).data.reason).toBe('on-a-trip');
    await street.cancel(filling);
    await street.post(`/v1/trips/${first}/complete`);
    await until(() => ann.offered === second, 'it is offered again', 15_000);
    await street.cancel(second);
    await street.leave();
  });
});
