import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fleet, type Answer } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { Phone } from '../support/phone.js';
import { until } from '../support/until.js';

/** How soon everybody who looks must have heard of a change. */
const SOON_MS = 1_000;

describe('trips', () => {
  let fleet: Fleet;
  let phones: Phone[];
  beforeEach(async () => {
    phones = [];
    fleet = await Fleet.start({ workers: 2, env: { WORKER_CONCURRENCY: '2' } });
  });
  afterEach(async () => {
    for (const phone of phones) phone.close();
    try {
      await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
    } finally {
      await fleet.stop();
    }
  });

  it('go to one of the drivers who are asked, and from all others', async () => {
    const [ann, bob, cem] = await drive('ann', 'bob', 'cem');
    const id = await ask(['ann', 'bob', 'cem']);
    await Promise.all([ann, bob, cem].map((phone) => phone!.untilSeen('offer', id)));
    expect(await trip(id)).toMatchObject({ id, status: 'PENDING', customerId: 'rider' });

    const answers = await Promise.all(['ann', 'bob', 'cem'].map((driver) => accept(id, driver)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    const winner = (await trip(id))['driverId'];
    expect(answers.find(({ status }) => status === 200)!.body['driverId']).toBe(winner);
    const lost = answers.find(({ status }) => status === 409)!;
    expect(lost.headers.get('content-type')).toContain('application/problem+json');
    expect(lost.body).toMatchObject({ status: 409, code: 'TRIP_NOT_TO_BE_HAD' });
    for (const phone of [ann!, bob!, cem!].filter(({ driverId }) => driverId !== winner)) {
      const { data } = await phone.untilSeen('withdrawn', id, SOON_MS);
      expect(data).toEqual({ tripId: id, reason: 'accepted' });
    }
    expect((await accept(id, String(winner))).status).toBe(200);
    expect((await post(`/v1/trips/${id}/complete`)).body).toMatchObject({ status: 'COMPLETED' });
    expect((await post(`/v1/trips/${id}/cancel`, { reason: 'too late' })).status).toBe(409);
    expect((await fleet.request('GET', `/v1/owners/trip/${id}`)).body).toMatchObject({
      state: 'closed',
      counts: { jobs: 0 },
    });
  });

  async function drive(...driverIds: string[]): Promise<Phone[]> {
    const connected = await Promise.all(
      driverIds.map(async (driverId) => {
        await available(driverId, true);
        return Phone.connect(fleet.url, driverId);
      }),
    );
    phones.push(...connected);
    return connected;
  }

  async function available(driverId: string, is: boolean): Promise<void> {
    const { status, body } = await fleet.request('PUT', `/v1/drivers/${driverId}`, { available: is });
    expect({ status, body }).toEqual({ status: 200, body: { id: driverId, available: is } });
  }

  async function ask(driverIds: string[], expiresIn?: string): Promise<string> {
    const body = { customerId: 'rider', driverIds, ...(expiresIn && { expiresIn }) };
    const answer = await post('/v1/trips', body);
    expect(answer).toMatchObject({ status: 201 });
    return String(answer.body['id']);
  }

  async function trip(id: string): Promise<Answer['body']> {
    return (await fleet.request('GET', `/v1/trips/${id}`)).body;
  }

  function accept(id: string, driverId: string): Promise<Answer> {
    return post(`/v1/trips/${id}/accept`, { driverId });
  }

  function post(path: string, body?: object): Promise<Answer> {
    return fleet.request('POST', path, body);
  }

  void until;
});
