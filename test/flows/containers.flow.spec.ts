import { openEngine, type Container, type ContainerEngine } from '#workloads/containers';
import { Owners } from '#core';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { LeaseCaller } from '../support/leases.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { until } from '../support/until.js';

const NO_LIMIT = new AbortController().signal;

describe('leases on the process runtime', () => {
  let fleet: Fleet;
  let leases: LeaseCaller;
  let engine: ContainerEngine;
  beforeAll(async () => {
    fleet = await Fleet.start({
      workers: 2,
      janitor: true,
      env: { LEASE_REAP_EVERY: '1s', LEASE_LIMIT: '8', LEASE_MAX: '2h' },
    });
    leases = new LeaseCaller(fleet);
    engine = openEngine({ folder: fleet.containers, memoryMb: 64, cpus: 1, pids: 10 });
  });
  afterAll(async () => {
    await fleet.stop();
  });
  afterEach(async () => {
    await until(async () => (await containers()).length === 0, 'no container is left');
    await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
  });

  it('start a container, hold it, and end it at its deadline without a call', async () => {
    const { status, body, headers } = await leases.post('/v1/leases', { image: 'alpine:3', duration: '5s' });
    expect({ status, body }).toEqual({
      status: 202,
      body: {
        id: expect.any(String),
        state: expect.stringMatching(/provisioning|running/),
        image: 'alpine:3',
        createdAt: expect.any(String),
        expiresAt: new Date(Date.parse(String(body['createdAt'])) + 5_000).toISOString(),
        containerId: body['containerId'],
      },
    });
    const id = String(body['id']);
    expect(headers.get('location')).toBe(`/v1/leases/${id}`);
    const { containerId } = await leases.untilState(id, 'running');
    expect(await containers()).toMatchObject([
      { id: containerId, name: leases.nameOf(id), running: true, labels: { 'mooring.lease': id } },
    ]);
    const ended = await leases.untilState(id, 'ended');
    expect(ended).toMatchObject({ endedBy: 'expired', containerId, expiresAt: body['expiresAt'] });
    expect(Date.parse(ended.endedAt!)).toBeGreaterThanOrEqual(Date.parse(ended.expiresAt));
    expect(Date.parse(ended.endedAt!) - Date.parse(ended.expiresAt)).toBeLessThan(2_000);

    await until(() => leases.cleanup(id).length === 4, 'all steps are logged');
    expect(leases.cleanup(id)).toMatchObject(
      ['stop', 'remove', 'record', 'lease'].map((action) => {
        return { containerId, action, status: 'done', attempt: 1, durationMs: expect.any(Number) };
      }),
    );
    const news = await eventsOut('lease.expired');
    expect(news).toMatchObject([
      { id: `lease.expired:${id}`, subject: `lease:${id}`, data: { containerId } },
    ]);
  });

  it('can be renewed until their deadline, and not after', async () => {
    const { id, expiresAt } = await leases.askRunning('5s');
    const renewed = await leases.renew(id, '8s');
    expect(renewed.status).toBe(200);
    const later = Date.parse(String(renewed.body['expiresAt']));
    expect(later).toBeGreaterThan(Date.parse(expiresAt));
    expect((await leases.renew(id, '1ms')).body['expiresAt']).toBe(renewed.body['expiresAt']);
    const ended = await leases.untilState(id, 'ended');
    expect(Date.parse(ended.endedAt!)).toBeGreaterThanOrEqual(later);
    expect(await leases.renew(id, '1m')).toMatchObject({ status: 409, body: { code: 'LEASE_OVER' } });
  });

  it('end when deleted, also before a container exists; deleting twice is harmless', async () => {
    const { id } = await leases.askRunning('1h');
    expect(await leases.delete(id)).toMatchObject({
      status: 202,
      body: { state: 'ending', endedBy: 'deleted' },
    });
    await leases.untilState(id, 'ended', 15_000);
    expect(await leases.delete(id)).toMatchObject({ status: 202, body: { state: 'ended' } });
    const early = await leases.ask('1h');
    await leases.delete(early);
    await leases.untilState(early, 'ended', 15_000);
    expect(await leases.post(`/v1/leases/${id}/cleanup`)).toMatchObject({
      status: 409,
      body: { code: 'NOT_FOR_CLEANUP' },
    });
  });

  it('end with the owner they were given, and with their own', async () => {
    const [one, two, other] = await Promise.all([
      leases.askRunning('1h', { owner: 'trip:7' }),
      leases.askRunning('1h'),
      leases.askRunning('1h', { owner: 'trip:8' }),
    ]);
    await leases.post('/v1/owners/trip/7/cancel', { reason: 'the ride is off' });
    await leases.post(`/v1/owners/lease/${two.id}/cancel`, { reason: 'no need' });
    expect(await leases.untilState(one.id, 'ended', 20_000)).toMatchObject({
      endedBy: 'owner',
      why: 'trip:7 was cancelled: the ride is off',
    });
    expect(await leases.untilState(two.id, 'ended', 20_000)).toMatchObject({
      endedBy: 'cancelled',
      why: 'no need',
    });
    expect(await leases.post('/v1/leases', { image: 'node', duration: '1m', owner: 'trip:7' })).toMatchObject(
      {
        status: 409,
        body: { code: 'OWNER_CLOSED' },
      },
    );
    expect(await leases.read(other.id)).toMatchObject({ state: 'running', owner: 'trip:8' });
    await leases.delete(other.id);
    await leases.untilState(other.id, 'ended');
  });

  it('end with an owner whose cancel event was lost', async () => {
    const [one, kept] = await Promise.all([
      leases.askRunning('1h', { owner: 'trip:9' }),
      leases.askRunning('1h', { owner: 'trip:10' }),
    ]);
    // A separate service that knows nothing of leases.
    const other = new Owners({ connection: { url: fleet.storeUrl }, prefix: `{${fleet.prefix}}` });
    try {
      await other.cancel('trip:9', { reason: 'off', close: false });
    } finally {
      await other.close();
    }
    expect(await leases.untilState(one.id, 'ended', 20_000)).toMatchObject({ endedBy: 'owner' });
    // A caller cancels the job that ties the lease to its owner, but not the owner: the job is created again.
    const owned = await fleet.request('GET', '/v1/owners/trip/10');
    const [job] = owned.body['jobs'] as { id: string }[];
    await fleet.request('DELETE', `/v1/jobs/${job!.id}`);
    await until(async () => {
      const { body } = await fleet.request('GET', '/v1/owners/trip/10');
      const [another] = body['jobs'] as { id: string }[];
      return another !== undefined && another.id !== job!.id;
    }, 'it is tied again');
    expect(await leases.read(kept.id)).toMatchObject({ state: 'running' });
    await leases.delete(kept.id);
    await leases.untilState(kept.id, 'ended');
  });

  it('take their own jobs with them', async () => {
    const { id } = await leases.askRunning('1h');
    const job = await fleet.probe({ ms: 60_000 }, { owners: [`lease:${id}`] });
    await fleet.untilState(job, 'running');
    await leases.delete(id);
    await leases.untilState(id, 'ended');
    expect(await fleet.untilState(job, 'cancelled')).toMatchObject({ owners: [`lease:${id}`] });
    const late = await leases.post('/v1/jobs', { kind: 'probe', owners: [`lease:${id}`], payload: {} });
    expect(late).toMatchObject({ status: 409, body: { code: 'OWNER_CLOSED' } });
  });

  it('count a stopped or missing container as ended, and end without one', async () => {
    const [stopped, gone, dead] = await Promise.all(
      ['5s', '5s', '1h'].map((time) => leases.askRunning(time)),
    );
    await engine.stop(stopped!.containerId!, NO_LIMIT);
    await engine.remove(gone!.containerId!, NO_LIMIT);
    await engine.remove(dead!.containerId!, NO_LIMIT);
    for (const { id } of [stopped!, gone!]) await leases.untilState(id, 'ended', 20_000);
    expect(await leases.untilState(dead!.id, 'ended', 20_000)).toMatchObject({
      endedBy: 'container-gone',
      why: 'its container is gone',
    });
  });

  it('leave no container behind when their record is lost, and touch no foreign one', async () => {
    const { id, containerId } = await leases.askRunning('1h');
    const [ours] = await containers();
    const copied = await engine.create(
      { name: `copy-${id}`, image: 'alpine', labels: ours!.labels },
      NO_LIMIT,
    );
    const forged = await engine.create(
      {
        name: leases.nameOf('00000000-0000-4000-8000-000000000000'),
        image: 'alpine',
        labels: { ...ours!.labels, 'mooring.lease': '00000000-0000-4000-8000-000000000000' },
      },
      NO_LIMIT,
    );
    try {
      await forgetLease(id);
      await sweep({ force: true, dryRun: true });
      expect((await containers()).map((one) => one.id)).toContain(containerId);
      const record = await sweep({ force: true });
      expect(record).toMatchObject({ state: 'done', failed: 0 });
      expect((await containers()).map((one) => one.id).toSorted()).toEqual([copied.id, forged.id].toSorted());
      expect(await containers()).toMatchObject([{ running: true }, { running: true }]);
    } finally {
      for (const one of [copied, forged]) await engine.remove(one.id, NO_LIMIT);
    }
  });

  it('are limited in number, and free a place when a container is known to be gone', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => leases.ask('1h')));
    const full = await leases.post('/v1/leases', { image: 'alpine', duration: '1m' });
    expect(full).toMatchObject({ status: 429, body: { code: 'QUEUE_FULL' } });
    expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(0);
    await Promise.all(ids.map((id) => leases.untilState(id, 'running')));
    expect((await leases.ids('running')).toSorted()).toEqual(ids.toSorted());
    await leases.delete(ids[0]!);
    await leases.untilState(ids[0]!, 'ended');
    ids.push(await leases.ask('1h'));
    await Promise.all(ids.map((id) => leases.delete(id)));
    for (const id of ids) await leases.untilState(id, 'ended');
  });

  it('are refused with invalid input, and created once per Idempotency-Key', async () => {
    for (const wrong of [
      { image: 'evil', duration: '1m' },
      { image: 'alpine/evil', duration: '1m' },
      { image: 'alpine', duration: '3h' },
      { image: 'alpine', duration: 0 },
      { image: 'alpine', duration: 'soon' },
      { image: 'alpine', duration: '1m', owner: 'invalid' },
      { image: 'alpine', duration: '1m', privileged: true },
      { duration: '1m' },
    ])
      expect(await leases.post('/v1/leases', wrong)).toMatchObject({
        status: 400,
        body: { code: 'INVALID' },
      });
    expect((await fleet.request('GET', '/v1/leases?state=odd')).status).toBe(400);
    const none = '00000000-0000-4000-8000-000000000001';
    for (const answer of [
      await fleet.request('GET', `/v1/leases/${none}`),
      await leases.renew(none, '1m'),
      await leases.delete(none),
    ])
      expect(answer).toMatchObject({ status: 404, body: { code: 'UNKNOWN_LEASE' } });

    const key = { 'idempotency-key': 'once' };
    const order = { image: 'alpine', duration: '1m' };
    const [one, two] = await Promise.all([1, 2].map(() => leases.post('/v1/leases', order, key)));
    expect(two!.body['id']).toBe(one!.body['id']);
    const another = await leases.post('/v1/leases', { ...order, duration: '2m' }, key);
    expect(another).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_CONFLICT' } });
    await leases.delete(String(one!.body['id']));
    await leases.untilState(String(one!.body['id']), 'ended');
  });

  it('are listed in pages, newest first', async () => {
    const { body } = await fleet.request('GET', '/v1/leases');
    const all = body['leases'] as { createdAt: string }[];
    expect(all.length).toBeGreaterThan(5);
    const times = all.map(({ createdAt }) => Date.parse(createdAt));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(body['cursor']).toBeNull();
  });

  function containers(): Promise<readonly Container[]> {
    return engine.list(`mooring.fleet=${fleet.prefix}`, NO_LIMIT);
  }

  async function sweep(order: object): Promise<Record<string, unknown>> {
    const { body } = await leases.post('/v1/admin/sweeps/leases', order);
    return until(async () => {
      const read = await fleet.request('GET', `/v1/admin/sweeps/${String(body['sweepId'])}`);
      return ['done', 'failed'].includes(String(read.body['state'])) && read.body;
    }, 'the sweep is over');
  }

  async function eventsOut(type: string): Promise<Record<string, unknown>[]> {
    const redis = new Redis(fleet.storeUrl);
    const entries = await redis.xrange(`${fleet.prefix}:events:out`, '-', '+');
    await redis.quit();
    return entries
      .map(([, [, event]]) => JSON.parse(event!) as Record<string, unknown>)
      .filter((event) => event['type'] === type);
  }

  /** Simulates data loss in the store. */
  async function forgetLease(id: string): Promise<void> {
    const redis = new Redis(fleet.storeUrl);
    const root = `${fleet.prefix}:{leases}`;
    await redis.del(`${root}:lease:${id}`);
    for (const list of ['until', 'due', 'all', 'is:running']) await redis.zrem(`${root}:${list}`, id);
    await redis.quit();
    await leases.post(`/v1/owners/lease/${id}/cancel`, { reason: 'lost' });
  }
});
