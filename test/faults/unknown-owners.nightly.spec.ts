import { Redis } from 'ioredis';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordOf } from '../support/cancel-door.js';
import { Fleet, type Answer } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { TestStore } from '../support/store.js';
import { until } from '../support/until.js';

const CALLS = 6;
const EVENTS_A_CALL = 1_000;
const BATCH = { 'content-type': 'application/cloudevents-batch+json' };
const MAX_CLOSED = 3;
const CANCELS = 3_000;
const AT_ONCE = 50;
/** The retained receipts of owners without a job, and those not yet recorded. */
const MOST_RECEIPTS = 1_000 + AT_ONCE;

/** A caller with the scope `cancel` may name any number of owners that never had a job. */
describe('a cancel of an owner that never had a job', () => {
  let store: TestStore;
  let redis: Redis;
  let fleet: Fleet;
  let folder: string;

  beforeEach(async () => {
    store = await TestStore.start('--maxmemory-policy', 'noeviction');
    redis = new Redis(store.url);
    folder = await mkdtemp(join(tmpdir(), 'mooring-events-'));
  });
  afterEach(async () => {
    await redis.config('SET', 'maxmemory', 0);
    await untilNothingIsLeft(store.url, fleet.prefix);
    await fleet.stop();
    await redis.quit();
    await store.stop();
    await rm(folder, { recursive: true });
  });

  it('is small: 6,000 of them by events leave room for jobs in 6 MB, and each owner stays closed', async () => {
    const EVENT_MAP = join(folder, 'events.json');
    await writeFile(EVENT_MAP, JSON.stringify([{ type: 'trip.cancelled', owner: 'trip:{subject}' }]));
    // The events about them have a limit of their own.
    await start({ EVENT_MAP, EVENTS_OUT_KEEP: '100' });
    await redis.config('SET', 'maxmemory', '6mb');

    for (let call = 0; call < CALLS; call += 1) {
      const events = Array.from({ length: EVENTS_A_CALL }, (_, i) => anEvent(call * EVENTS_A_CALL + i));
      const { status, body } = await fleet.request('POST', '/v1/events', events, BATCH);
      const results = body['results'] as { outcome: string }[];
      expect({ status, outcomes: new Set(results.map(({ outcome }) => outcome)) }).toEqual({
        status: 200,
        outcomes: new Set(['cancelled']),
      });
      expect(await enqueue(`ride:${call}`)).toMatchObject({ status: 201 });
    }
    for (const trip of [0, 3_000, 5_999])
      expect(await enqueue(`trip:${trip}`)).toMatchObject({ status: 409 });
    for (let call = 0; call < CALLS; call += 1) await cancel(`ride/${call}`);
  }, 180_000);

  it('leaves 1,000 receipts in a full store that refuses the events about them', async () => {
    await start({ EVENTS_OUT: 'owners' });
    await redis.config('SET', 'maxmemory', '6mb');
    await fill();
    for (let at = 0; at < CANCELS; at += AT_ONCE) {
      const some = Array.from({ length: AT_ONCE }, (_, i) => cancel(`no/${at + i}`, { close: false }));
      const statuses = (await Promise.all(some)).map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set([200]));
    }
    const outbox = `{${fleet.prefix}}~outbox`;
    expect(await redis.zcard(outbox)).toBeGreaterThan(0);
    await until(async () => {
      const receipts = (await redis.keys(`{${fleet.prefix}}~receipt~*`)).length;
      return Math.max(receipts, await redis.zcard(outbox)) <= MOST_RECEIPTS;
    }, 'the receipts beyond the limit are forgotten');
  }, 120_000);

  it('is answered like any other, and its cancelId gets the same receipt again', async () => {
    await start();
    const order = { reason: 'sold', cancelId: 'c-1' };
    const { status, body } = await cancel('trip/1', order);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        cancelId: 'c-1',
        owner: 'trip:1',
        reason: 'sold',
        closed: true,
        removed: 0,
        running: 0,
        done: true,
      },
    });
    expect((await cancel('trip/1', order)).body).toEqual(body);
    expect((await fleet.request('GET', '/v1/cancellations/c-1')).body).toEqual(body);
    expect(await cancel('trip/2', order)).toMatchObject({ status: 422 });
  });

  it('leaves nothing for an owner that it does not close', async () => {
    await start();
    const { body } = await cancel('trip/1', { close: false });
    expect(body).toMatchObject({ closed: false, removed: 0, done: true });
    expect(await redis.exists(recordOf(fleet.prefix, 'trip:1'))).toBe(0);
    expect(await enqueue('trip:1')).toMatchObject({ status: 201 });
    expect((await cancel('trip/1', { close: false })).body).toMatchObject({ removed: 1, done: true });
  });

  it('is refused when the limit of such owners is reached; owners with jobs are still closed', async () => {
    await start({ MAX_CLOSED: String(MAX_CLOSED) });
    for (let trip = 1; trip <= MAX_CLOSED; trip += 1) await cancel(`trip/${trip}`);
    const refused = await until(async () => {
      const answer = await cancel(`trip/${Math.random()}`);
      return answer.status !== 200 && answer;
    }, 'the limit is noticed');
    expect(refused).toMatchObject({ status: 507, body: { code: 'CLOSED_FULL' } });

    await enqueue('ride:1');
    expect(await cancel('ride/1')).toMatchObject({
      status: 200,
      body: { removed: 1, closed: true, done: true },
    });
    expect(await cancel('trip/1')).toMatchObject({ status: 200, body: { closed: true, done: true } });
    expect(await cancel('trip/open', { close: false })).toMatchObject({ status: 200, body: { done: true } });
    expect(await enqueue('trip:1')).toMatchObject({ status: 409 });
  });

  it('shares its limit with reopens of such owners, which write no record beyond it', async () => {
    await start({ MAX_CLOSED: String(MAX_CLOSED) });
    for (let trip = 1; trip <= MAX_CLOSED; trip += 1)
      expect(await reopen(`trip/${trip}`)).toMatchObject({ status: 200, body: { state: 'open' } });
    const refused = await until(async () => {
      const owner = `trip/${Math.random()}`;
      const answer = await reopen(owner);
      return answer.status !== 200 && { owner, ...answer };
    }, 'the limit is noticed');
    expect(refused).toMatchObject({ status: 507, body: { code: 'CLOSED_FULL' } });
    expect(await redis.exists(recordOf(fleet.prefix, refused.owner.replace('/', ':')))).toBe(0);

    expect(await cancel('trip/new')).toMatchObject({ status: 507 });
    await enqueue('ride:1');
    await cancel('ride/1');
    for (const owner of ['ride/1', 'trip/1']) expect(await reopen(owner)).toMatchObject({ status: 200 });
  });

  it('is kept for as long as RECEIPT_KEEP says, like any other, with the history', async () => {
    await start({ RECEIPT_KEEP: '2m' });
    await enqueue('ride:1');
    await cancel('ride/1', { cancelId: 'c-1' });
    const kept = (await redis.keys(`{${fleet.prefix}}~*`)).filter((key) =>
      /~receipt~|~history~|~gone/.test(key),
    );
    expect(kept).toHaveLength(4);
    for (const key of kept) {
      const leftMs = await redis.pttl(key);
      expect({ key, isKept: leftMs > 60_000 && leftMs <= 120_000 }).toEqual({ key, isKept: true });
    }
  });

  async function start(env: NodeJS.ProcessEnv = {}): Promise<void> {
    fleet = await Fleet.start({ storeUrl: store.url, workers: 0, env });
  }

  /** Writes until the store refuses a write. */
  async function fill(): Promise<void> {
    const add = (i: number): Promise<unknown> => redis.set(`filler:${i}`, 'x'.repeat(10_000));
    for (let i = 0; (await add(i).catch(() => undefined)) !== undefined; i += 1);
    expect(await enqueue('ride:1')).toMatchObject({ status: 503 });
  }

  function enqueue(owner: string): Promise<Answer> {
    return fleet.request('POST', '/v1/jobs', { kind: 'probe', owners: [owner], payload: {} });
  }

  function reopen(owner: string): Promise<Answer> {
    return fleet.request('POST', `/v1/owners/${owner}/reopen`);
  }

  function cancel(owner: string, order: object = {}): Promise<Answer> {
    return fleet.request('POST', `/v1/owners/${owner}/cancel`, order);
  }
});

function anEvent(trip: number): object {
  return {
    specversion: '1.0',
    id: `e-${trip}`,
    source: '/trips',
    type: 'trip.cancelled',
    subject: String(trip),
  };
}
