import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Fleet, type Answer } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { Phone } from '../support/phone.js';
import { until } from '../support/until.js';

const NAMES = ['shop', 'other', 'trips'];

/** Callers must not affect each other's trips, even when their keys allow the calls. */
describe('trips of different callers', () => {
  let fleet: Fleet;
  let phones: Phone[];
  let drivers: Set<string>;
  beforeAll(async () => {
    const keys = NAMES.map((name) => `${name}:enqueue+read+cancel:${hash(name)}`);
    fleet = await Fleet.start({ env: { API_KEYS: keys.join(',') } });
  });
  afterAll(() => fleet.stop());
  beforeEach(() => {
    [phones, drivers] = [[], new Set()];
  });
  afterEach(async () => {
    for (const phone of phones) phone.close();
    for (const id of drivers) await as('shop', 'PUT', `/v1/drivers/${id}`, { available: false });
    await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
  });

  it('are offered only to drivers who were asked, even if another caller enqueues the request', async () => {
    const [ann, bob] = [await drive('ann'), await drive('bob')];
    const id = await asked('ann');
    await ann.untilSeen('offer', id);
    const { status, body } = await as('other', 'POST', '/v1/jobs', {
      kind: 'trips.request',
      owners: [`trip:${id}`],
      payload: { tripId: id, driverId: 'bob' },
    });
    expect({ status, code: body['code'] }).toEqual({ status: 404, code: 'UNKNOWN_KIND' });
    expect(bob.seen).toEqual([]);
    await cancel(id);

    const next = await asked('bob');
    await bob.untilSeen('offer', next);
    await cancel(next);
  });

  it('have an Idempotency-Key per caller', async () => {
    const order = { customerId: 'rider', driverIds: ['ann'] };
    const key = { 'idempotency-key': 'ride-1' };
    const ids: string[] = [];
    for (const caller of ['shop', 'other', 'shop'])
      ids.push(String((await as(caller, 'POST', '/v1/trips', order, key)).body['id']));
    expect(ids[2]).toBe(ids[0]);
    expect(ids[1]).not.toBe(ids[0]);
    for (const id of ids.slice(0, 2)) await cancel(id);
  });

  it('end with their owner, also when a caller is named trips', async () => {
    const ann = await drive('ann');
    const [offered, taken] = [await asked('ann'), await asked('ann')];
    await ann.untilSeen('offer', offered);
    await accept(taken);
    for (const id of [offered, taken]) {
      const about = { reason: 'off', cancelId: `trip-${id}-ACCEPTED` };
      expect((await as('trips', 'POST', `/v1/owners/trip/${id}/cancel`, about)).status).toBe(200);
      await until(async () => (await trip(id))['status'] === 'CANCELLED', 'the trip follows');
      await ann.untilSeen('withdrawn', id);
    }
  });

  it('stay accepted when their own cancel is requested again', async () => {
    await drive('ann');
    const id = await asked('ann');
    await accept(id);
    const { body } = await until(async () => {
      const history = await as('other', 'GET', `/v1/owners/trip/${id}/history`);
      return (history.body['entries'] as unknown[]).length > 0 && history;
    }, 'its timeout is gone');
    const [{ cancelId }] = body['entries'] as [{ cancelId: string }];
    await as('other', 'POST', `/v1/owners/trip/${id}/cancel`, { cancelId });
    expect(await trip(id)).toMatchObject({ status: 'ACCEPTED' });
    await cancel(id);
  });

  it('lose their jobs even if another caller has used the same cancel id before', async () => {
    const id = await asked('ann');
    await squat(`trip-${id}-CANCELLED`);
    await cancel(id);
    const { body } = await as('shop', 'GET', `/v1/owners/trip/${id}`);
    expect(body).toMatchObject({ state: 'closed', counts: { jobs: 0 } });
  });

  it('are shown to a phone whose Last-Event-ID lies in the future', async () => {
    await drive('ann');
    const id = await asked('ann');
    await phones[0]!.untilSeen('offer', id);
    const ahead = await connect('ann', { 'last-event-id': '999999999999999-0' });
    await ahead.untilSeen('offer', id);
    await cancel(id);
    await ahead.untilSeen('withdrawn', id);
    expect(ahead.seen.map(({ event }) => event)).toEqual(['offer', 'withdrawn']);
  });

  function as(
    name: string,
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return fleet.request(method, path, body, { ...headers, authorization: `Bearer ${name}` });
  }

  async function drive(driverId: string): Promise<Phone> {
    drivers.add(driverId);
    await as('shop', 'PUT', `/v1/drivers/${driverId}`, { available: true });
    return connect(driverId);
  }

  async function connect(driverId: string, headers: Record<string, string> = {}): Promise<Phone> {
    const one = await Phone.connect(fleet.url, driverId, { ...headers, authorization: 'Bearer shop' });
    phones.push(one);
    return one;
  }

  async function asked(...driverIds: string[]): Promise<string> {
    const { status, body } = await as('shop', 'POST', '/v1/trips', { customerId: 'rider', driverIds });
    expect({ status, body }).toMatchObject({ status: 201 });
    return String(body['id']);
  }

  async function accept(id: string): Promise<void> {
    const { status, body } = await as('shop', 'POST', `/v1/trips/${id}/accept`, { driverId: 'ann' });
    expect({ status, body }).toMatchObject({ status: 200, body: { status: 'ACCEPTED' } });
  }

  async function cancel(id: string): Promise<void> {
    expect((await as('shop', 'POST', `/v1/trips/${id}/cancel`, { reason: 'off' })).status).toBe(200);
  }

  async function trip(id: string): Promise<Answer['body']> {
    return (await as('shop', 'GET', `/v1/trips/${id}`)).body;
  }

  /** Uses the cancel id for another owner. */
  async function squat(cancelId: string): Promise<void> {
    const { status } = await as('other', 'POST', '/v1/owners/trip/42/cancel', { cancelId });
    expect(status).toBe(200);
  }
});

function hash(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
