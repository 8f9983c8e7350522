import { randomUUID } from 'node:crypto';
import type { JobView } from '#nestjs';
import { Redis } from 'ioredis';
import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Fleet, type Answer } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { Phone } from '../support/phone.js';
import { TestStore } from '../support/store.js';
import { until } from '../support/until.js';

/** Every stream must have a change by then. */
const SOON_MS = 1_000;

describe('trips', () => {
  let store: TestStore;
  let fleet: Fleet;
  let phones: Phone[];
  let online: Set<string>;
  beforeAll(async () => {
    // A store of its own, because one test closes the connections of all clients.
    store = await TestStore.start();
    fleet = await Fleet.start({ storeUrl: store.url, workers: 2, env: { WORKER_CONCURRENCY: '2' } });
  });
  afterAll(async () => {
    await fleet.stop();
    await store.stop();
  });
  beforeEach(() => {
    phones = [];
    online = new Set();
  });
  afterEach(async () => {
    for (const phone of phones) phone.close();
    for (const driverId of online) await available(driverId, false);
    await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
  });

  it('go to one of the drivers who are asked, and are withdrawn from the others', async () => {
    const [ann, bob, cem] = await drive('ann', 'bob', 'cem');
    const id = await ask(['ann', 'bob', 'cem']);
    await Promise.all([ann, bob, cem].map((phone) => phone!.untilSeen('offer', id)));
    expect(await trip(id)).toMatchObject({ id, status: 'PENDING', customerId: 'rider' });

    const answers = await Promise.all(['ann', 'bob', 'cem'].map((driver) => accept(id, driver)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
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

  it('end at their expiry, and are not offered after it', async () => {
    const [ann] = await drive('ann');
    const first = await ask(['ann'], '4s');
    await ann!.untilSeen('offer', first);
    const second = await ask(['ann', 'bob'], '1500ms');
    const { data, at } = await ann!.untilSeen('withdrawn', first);
    expect(data).toEqual({ tripId: first, reason: 'expired' });
    const { endedAt, expiresAt } = await until(async () => {
      const read = await trip(first);
      return read['status'] === 'EXPIRED' && read;
    }, 'it is expired');
    expect(Date.parse(String(endedAt))).toBeGreaterThanOrEqual(Date.parse(String(expiresAt)));
    expect(at - Date.parse(String(expiresAt))).toBeLessThan(SOON_MS);
    expect(await accept(first, 'ann')).toMatchObject({
      status: 409,
      body: { detail: 'The trip is EXPIRED.' },
    });

    // It ended before ann was free and before bob came online.
    await available('bob', true);
    const third = await ask(['ann', 'bob']);
    await ann!.untilSeen('offer', third);
    expect(await trip(second)).toMatchObject({ status: 'EXPIRED', reason: 'expired' });
    expect(ann!.saw('offer', second)).toBe(false);
    await cancel(third);
  });

  it('end at their expiry even without workers for their timeouts', async () => {
    const [ann] = await drive('ann');
    await post('/v1/admin/queues/trip-timeouts/pause');
    try {
      const shown = await ask(['ann'], '4s');
      await ann!.untilSeen('offer', shown);
      const { at } = await ann!.untilSeen('withdrawn', shown);
      const { expiresAt } = await trip(shown);
      expect(at - Date.parse(String(expiresAt))).toBeLessThan(SOON_MS);
      expect(await trip(shown)).toMatchObject({ status: 'EXPIRED' });

      const unseen = await ask(['bob'], '100ms');
      await until(async () => (await trip(unseen))['status'] === 'EXPIRED', 'it reads so', SOON_MS);
    } finally {
      await post('/v1/admin/queues/trip-timeouts/resume');
    }
  });

  it('may be accepted by a driver who never set availability, but not by one who went offline', async () => {
    const id = await ask(['new', 'away']);
    await available('away', false);
    expect(await accept(id, 'away')).toMatchObject({ status: 409, body: { code: 'NOT_FOR_DRIVER' } });
    expect(await accept(id, 'new')).toMatchObject({ status: 200, body: { driverId: 'new' } });
    expect((await post(`/v1/trips/${id}/complete`)).status).toBe(200);
  });

  it('reach an offline driver as soon as they come online, and fail until then', async () => {
    const id = await ask(['ann']);
    const job = await until(
      async () => (await requestsOf(id)).find(({ state }) => state === 'retrying'),
      'it failed',
    );
    expect(job.error).toBe('Driver "ann" is not available.');
    const [ann] = await drive('ann');
    await ann!.untilSeen('offer', id, SOON_MS);
    await cancel(id);
  });

  it('wait for a driver on a trip, delay no other driver, and arrive when the trip ends', async () => {
    const [ann, bob] = await drive('ann', 'bob');
    const first = await ask(['ann']);
    await ann!.untilSeen('offer', first);
    expect((await accept(first, 'ann')).status).toBe(200);

    // Many more than the workers run at once.
    const line: string[] = [];
    for (let i = 0; i < 12; i += 1) line.push(await ask(['ann']));
    await until(async () => (await requestsOfAll(line)).every(waitsForItsDriver), 'all of them wait');
    const other = await ask(['bob']);
    await bob!.untilSeen('offer', other, SOON_MS);
    expect(ann!.seen.filter(({ event }) => event === 'offer')).toHaveLength(1);

    await post(`/v1/trips/${first}/complete`);
    for (const id of line) {
      await ann!.untilSeen('offer', id, 2 * SOON_MS);
      expect(ann!.offered).toBe(id);
      await cancel(id);
    }
    expect(ann!.seen.filter(({ event }) => event === 'offer').map(({ data }) => data.tripId)).toEqual([
      first,
      ...line,
    ]);
    await cancel(other);
    const { body } = await fleet.request('GET', '/v1/admin/queues');
    const queues = body['queues'] as { queue: string; counts: object }[];
    expect(queues.find(({ queue }) => queue === 'trip-requests')!.counts).toMatchObject({ completed: 10 });
  });

  it('come one at a time: a standing offer keeps the next waiting until it is answered', async () => {
    const [ann, bob] = await drive('ann', 'bob');
    const [first, second, third] = [await ask(['ann', 'bob']), await ask(['ann']), await ask(['ann'])];
    await Promise.all([ann!.untilSeen('offer', first), bob!.untilSeen('offer', first)]);
    await until(async () => (await requestsOfAll([second, third])).every(waitsForItsDriver), 'both wait');

    const declined = await post(`/v1/trips/${first}/decline`, { driverId: 'ann' });
    expect(declined).toMatchObject({ status: 200, body: { status: 'PENDING' } });
    // A request that checks at that very moment may overtake the other.
    const next = await Promise.race([untilOffered(ann!, second), untilOffered(ann!, third)]);
    const last = next === second ? third : second;
    expect(ann!.saw('offer', last)).toBe(false);
    await cancel(next);
    await ann!.untilSeen('offer', last, SOON_MS);
    expect(bob!.seen).toHaveLength(1);

    // The driver accepts another requested trip, and the earlier offer returns when they are free.
    expect((await accept(first, 'ann')).status).toBe(200);
    expect((await ann!.untilSeen('withdrawn', last, SOON_MS)).data.reason).toBe('on-a-trip');
    await bob!.untilSeen('withdrawn', first, SOON_MS);
    await cancel(first);
    await until(() => ann!.offered === last, 'it is offered again', 2 * SOON_MS);
    await cancel(last);
  });

  it('are withdrawn from a driver who goes offline, and from no other', async () => {
    const [ann, bob] = await drive('ann', 'bob');
    const [first, second] = [await ask(['ann', 'bob']), await ask(['ann', 'bob'])];
    await Promise.all([ann!.untilSeen('offer', first), bob!.untilSeen('offer', first)]);
    await until(async () => (await requestsOf(second)).every(waitsForItsDriver), 'both wait');

    await available('ann', false);
    expect((await ann!.untilSeen('withdrawn', first, SOON_MS)).data.reason).toBe('offline');
    expect((await fleet.request('GET', '/v1/owners/driver/ann')).body).toMatchObject({
      counts: { jobs: 0 },
      state: 'open',
    });
    expect(await accept(first, 'ann')).toMatchObject({ status: 409, body: { code: 'NOT_FOR_DRIVER' } });
    expect(bob!.offered).toBe(first);
    expect((await accept(first, 'bob')).status).toBe(200);

    await available('ann', true);
    const third = await ask(['ann']);
    await ann!.untilSeen('offer', third);
    expect(ann!.saw('offer', second)).toBe(false);
    for (const id of [first, second, third]) await cancel(id);
    expect((await bob!.untilSeen('withdrawn', first, SOON_MS)).data.reason).toBe('off');
  });

  it('are cancelled everywhere at once: no job is left and no phone shows them', async () => {
    const drivers = Array.from({ length: 20 }, (_, i) => `d${i}`);
    const seen = await drive(...drivers.slice(0, 10));
    const id = await ask(drivers);
    await Promise.all(seen.map((phone) => phone.untilSeen('offer', id)));
    expect(await cancel(id)).toMatchObject({ status: 'CANCELLED', reason: 'off' });
    await Promise.all(seen.map((phone) => phone.untilSeen('withdrawn', id, SOON_MS)));
    expect(await accept(id, 'd0')).toMatchObject({ status: 409, body: { code: 'TRIP_NOT_TO_BE_HAD' } });
    // A running job is told to stop and is removed when it has ended.
    const isEmpty = async (): Promise<boolean> => {
      const { body } = await fleet.request('GET', `/v1/owners/trip/${id}`);
      return (body['counts'] as { jobs: number }).jobs === 0;
    };
    await until(isEmpty, 'no job is left', SOON_MS);
    expect((await post(`/v1/trips/${id}/complete`)).status).toBe(409);
    expect(await cancel(id)).toMatchObject({ status: 'CANCELLED' });
  });

  it('are cancelled when another caller cancels their owner', async () => {
    const [ann] = await drive('ann');
    const [pending, taken] = [await ask(['ann']), await ask(['ann'])];
    await ann!.untilSeen('offer', pending);
    const body = { reason: 'the shop is closed' };
    expect((await post(`/v1/owners/trip/${pending}/cancel`, body)).status).toBe(200);
    const { data } = await ann!.untilSeen('withdrawn', pending, SOON_MS);
    expect(data.reason).toBe('the shop is closed');
    expect(await trip(pending)).toMatchObject({ status: 'CANCELLED', reason: 'the shop is closed' });

    await ann!.untilSeen('offer', taken, SOON_MS);
    expect((await accept(taken, 'ann')).status).toBe(200);
    await post(`/v1/owners/trip/${taken}/cancel`, body);
    await ann!.untilSeen('withdrawn', taken, SOON_MS);
    expect((await post('/v1/owners/trip/none/cancel', body)).status).toBe(200);
  });

  it('are shown to a phone that connects late, and a reconnecting phone gets what it missed', async () => {
    const [early] = await drive('ann');
    const first = await ask(['ann']);
    const { id: lastId } = await early!.untilSeen('offer', first);
    early!.close();
    const late = await again('ann');
    await late.untilSeen('offer', first, SOON_MS);

    await cancel(first);
    const second = await ask(['ann']);
    await late.untilSeen('offer', second);
    await cancel(second);
    const third = await ask(['ann']);
    await late.untilSeen('offer', third);
    const back = await again('ann', { 'last-event-id': lastId });
    await back.untilSeen('offer', third, SOON_MS);
    expect(back.seen.map(({ event, data }) => [event, data.tripId])).toEqual([
      ['withdrawn', first],
      ['withdrawn', second],
      ['offer', third],
    ]);
    const odd = await again('ann', { 'last-event-id': 'nonsense' });
    await odd.untilSeen('offer', third, SOON_MS);
    await cancel(third);
  });

  it('reach a phone that connects while another of the same driver disconnects', async () => {
    let [phone] = await drive('ann');
    for (let i = 0; i < 20; i += 1) {
      const next = Phone.connect(fleet.url, 'ann');
      phone!.close();
      phone = await next;
    }
    phones.push(phone!);
    const id = await ask(['ann']);
    await phone!.untilSeen('offer', id, SOON_MS);
    await cancel(id);
    expect((await phone!.untilSeen('withdrawn', id, SOON_MS)).data.reason).toBe('off');
  });

  it('reach phones after the api lost its subscriber connection', async () => {
    const [ann] = await drive('ann');
    const redis = new Redis(fleet.storeUrl);
    await redis.call('client', 'KILL', 'TYPE', 'pubsub');
    await redis.quit();
    const id = await ask(['ann']);
    await ann!.untilSeen('offer', id, 3 * SOON_MS);
    await cancel(id);
    expect((await ann!.untilSeen('withdrawn', id, SOON_MS)).data.reason).toBe('off');
  });

  it('are offered through every api, and an api that shuts down ends its streams in order', async () => {
    const second = fleet.addApi();
    await fleet.untilReady(second);
    await available('ann', true);
    const phone = await Phone.connect(second.url!, 'ann');
    const id = await ask(['ann']);
    await phone.untilSeen('offer', id, 2 * SOON_MS);
    second.kill('SIGTERM');
    expect(await second.exited).toEqual({ code: 0, signal: null });
    await until(() => phone.hasEnded, 'the phone is let go');
    await cancel(id);
  });

  it('refuse invalid input like all other routes', async () => {
    const code = async (method: string, path: string, body?: object): Promise<unknown[]> => {
      const answer = await fleet.request(method, path, body);
      return [answer.status, answer.body['code']];
    };
    expect(await code('POST', '/v1/trips', { customerId: 'c', driverIds: [] })).toEqual([400, 'INVALID']);
    expect(await code('POST', '/v1/trips', { customerId: 'c', driverIds: ['a'], expiresIn: 'soon' })).toEqual(
      [400, 'INVALID'],
    );
    expect(await code('POST', '/v1/trips', { customerId: 'c', driverIds: ['a'], expiresIn: '2d' })).toEqual([
      400,
      'INVALID',
    ]);
    expect(await code('GET', '/v1/trips/none')).toEqual([404, 'UNKNOWN_TRIP']);
    expect(await code('POST', '/v1/trips/none/accept', { driverId: 'a' })).toEqual([404, 'UNKNOWN_TRIP']);
    expect(await code('POST', '/v1/trips/none/cancel', {})).toEqual([404, 'UNKNOWN_TRIP']);
    expect(await code('POST', '/v1/trips/none/complete')).toEqual([404, 'UNKNOWN_TRIP']);
    expect(await code('PUT', '/v1/drivers/a', { available: 'yes' })).toEqual([400, 'INVALID']);
    const id = await ask(['ann']);
    expect(await code('POST', `/v1/trips/${id}/accept`, { driverId: 'stranger' })).toEqual([
      409,
      'NOT_FOR_DRIVER',
    ]);
    expect(await code('POST', `/v1/trips/${id}/decline`, { driverId: 'ann' })).toEqual([
      409,
      'NOT_FOR_DRIVER',
    ]);
    await cancel(id);
  });

  it('are created once per Idempotency-Key', async () => {
    const order = { customerId: 'c', driverIds: ['ann'] };
    const key = { 'idempotency-key': 'ride-1' };
    const [one, two] = await Promise.all([1, 2].map(() => fleet.request('POST', '/v1/trips', order, key)));
    expect(one!.body['id']).toBe(two!.body['id']);
    const other = await fleet.request('POST', '/v1/trips', { ...order, customerId: 'd' }, key);
    expect(other).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_CONFLICT' } });
    expect(await requestsOf(String(one!.body['id']))).toHaveLength(1);
    await cancel(String(one!.body['id']));
  });

  async function again(driverId: string, headers: Record<string, string> = {}): Promise<Phone> {
    const phone = await Phone.connect(fleet.url, driverId, headers);
    phones.push(phone);
    return phone;
  }

  async function cancel(id: string): Promise<Answer['body']> {
    const { status, body } = await post(`/v1/trips/${id}/cancel`, { reason: 'off' });
    expect({ status, body }).toMatchObject({ status: 200 });
    return body;
  }

  /** The requests of a trip that have not ended. */
  async function requestsOf(id: string): Promise<JobView[]> {
    const { body } = await fleet.request('GET', `/v1/owners/trip/${id}`);
    const jobs = body['jobs'] as { id: string; queue: string }[];
    return Promise.all(jobs.filter(({ queue }) => queue === 'trip-requests').map((job) => fleet.job(job.id)));
  }

  async function untilOffered(phone: Phone, id: string): Promise<string> {
    await phone.untilSeen('offer', id, SOON_MS);
    return id;
  }

  async function requestsOfAll(ids: string[]): Promise<JobView[]> {
    return (await Promise.all(ids.map(requestsOf))).flat();
  }

  it('keep their jobs while they can be accepted; the sweep removes jobs of an unknown trip', async () => {
    const env = { ORPHAN_SWEEP_EVERY: '100ms', OWNER_GRACE: '500ms', SWEEP_LOCK: '1s' };
    const janitor = fleet.addJanitor(env);
    await fleet.untilReady(janitor);
    const kept = await ask(['ann']);
    const lost = await fleet.probe({}, { owners: [`trip:${randomUUID()}`], delay: '1h' });
    const anothers = await fleet.probe({}, { owners: ['trip:42'], delay: '1h' });
    const { error } = await fleet.untilState(lost, 'removed');
    expect(error).toMatch(/^orphan by janitor/);
    const requests = await until(async () => {
      const found = await requestsOf(kept);
      return found[0]?.state === 'retrying' && found;
    }, 'its request is tried again and again');
    expect(requests.map(({ state }) => state)).toEqual(['retrying']);
    expect(await fleet.job(anothers)).toMatchObject({ state: 'delayed' });
    await cancel(kept);
    await fleet.request('POST', '/v1/owners/trip/42/cancel', { reason: 'the end of the test' });
    janitor.kill('SIGTERM');
    expect((await janitor.exited).code).toBe(0);
    // A sweep that it was at belongs to the next janitor, and there is none.
    const redis = new Redis(fleet.storeUrl);
    await redis.unlink(`{${fleet.prefix}}~sweeps~open`);
    await redis.quit();
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
    online.add(driverId);
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
});

describe('trips behind api keys', () => {
  const keyOf = (name: string): Record<string, string> => ({ authorization: `Bearer ${name}` });
  const keys = ['enqueue', 'read', 'cancel']
    .map((scope) => `${scope}:${scope}:${createHash('sha256').update(scope).digest('hex')}`)
    .join(',');

  it('require the scope, and the demo page is hidden', async () => {
    const fleet = await Fleet.start({ workers: 0, env: { API_KEYS: keys } });
    try {
      const status = async (method: string, path: string, scope?: string, body?: object): Promise<number> =>
        (await fleet.request(method, path, body, scope === undefined ? {} : keyOf(scope))).status;
      const order = { customerId: 'c', driverIds: ['a'] };
      expect(await status('POST', '/v1/trips', undefined, order)).toBe(401);
      expect(await status('POST', '/v1/trips', 'read', order)).toBe(403);
      expect(await status('GET', '/v1/trips/x', 'read')).toBe(404);
      expect(await status('GET', '/v1/trips/x', 'enqueue')).toBe(403);
      expect(await status('POST', '/v1/trips/x/cancel', 'enqueue', {})).toBe(403);
      expect(await status('POST', '/v1/trips/x/cancel', 'cancel', {})).toBe(404);
      expect(await status('PUT', '/v1/drivers/a', 'read', { available: true })).toBe(403);
      expect(await status('GET', '/v1/drivers/a/offers')).toBe(401);
      expect(await status('GET', '/demo/trips')).toBe(404);
      const phone = await Phone.connect(fleet.url, 'a', keyOf('read'));
      phone.close();
    } finally {
      await fleet.stop();
    }
  });

  it('are absent when switched off', async () => {
    const fleet = await Fleet.start({ janitor: true, env: { TRIPS: 'off' } });
    try {
      expect((await fleet.request('GET', '/v1/trips/x')).body).toMatchObject({ code: 'NOT_FOUND' });
      expect((await fleet.request('GET', '/demo/trips')).status).toBe(404);
    } finally {
      await fleet.stop();
    }
  });
});

/** The request ran, and its driver was not free. */
function waitsForItsDriver({ state, timeline }: JobView): boolean {
  return state === 'delayed' && timeline.some(({ why }) => why?.startsWith('the driver has another'));
}
