import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReceiptView } from '#nestjs';
import { diagramOf, picture, untilDiagram } from '../support/diagrams.js';
import { Fleet, type Answer } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { jobFacts } from '../support/life-facts.js';
import { TestStore } from '../support/store.js';

/** F9: a store at its memory limit refuses new jobs but accepts cancels, because a cancel frees memory. */
describe('while the store is full', () => {
  let store: TestStore;
  let redis: Redis;
  let fleet: Fleet;
  beforeEach(async () => {
    store = await TestStore.start('--maxmemory-policy', 'noeviction');
    redis = new Redis(store.url);
    fleet = await Fleet.start({ storeUrl: store.url, workers: 1, env: { WORKER_LOCK: '6s' } });
  });
  afterEach(async () => {
    await redis.config('SET', 'maxmemory', 0);
    await untilNothingIsLeft(store.url, fleet.prefix);
    await fleet.stop();
    await redis.quit();
    await store.stop();
  });

  it('a cancel removes waiting jobs, stops running ones and frees memory', async () => {
    const slot = { key: 'driver:7', limit: 1 };
    const ids = [
      await running({ ms: 60_000 }, { slot }),
      await running({ ms: 60_000, ignoreAbort: true }),
      await fleet.probe({}, { slot }),
      await fleet.probe({}, { delay: '1h' }),
      await fleet.probe({}, { delay: '1h', dedup: { strategy: 'coalesce', key: 'k' } }),
      await fleet.probe({}, { delay: '1h', owners: ['site:1', 'trip:42'] }),
    ];
    await fleet.untilState(ids[2]!, 'delayed');
    await redis.config('SET', 'maxmemory', 1);
    await expect(redis.set('name', 'ada')).rejects.toThrow(/^OOM/);

    expect(await enqueue()).toMatchObject({ status: 503, body: { code: 'STORE_UNAVAILABLE' } });
    const { status, body } = await fleet.request('POST', '/v1/owners/trip/42/cancel', {
      reason: 'no room',
      wait: 'drained',
    });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { aborted: 2, acknowledged: 1, running: 0, done: true },
    });
    // The job that ignores its signal cannot renew its lock either, so it counts as stalled.
    const { removed, aborted } = body as unknown as ReceiptView;
    expect(removed).toBeGreaterThanOrEqual(3);
    expect(removed + aborted).toBeLessThanOrEqual(ids.length);
    expect((await fleet.request('GET', '/v1/owners/trip/42')).body).toMatchObject({ jobs: [] });
    expect(await fleet.request('GET', `/v1/jobs/${ids[0]}`)).toMatchObject({
      status: 200,
      body: { state: 'cancelled' },
    });
    expect(await enqueue()).toMatchObject({ status: 503 });

    await redis.config('SET', 'maxmemory', 0);
    for (const id of ids) expect((await fleet.job(id)).state).toMatch(/removed|cancelled/);
    expect(await enqueue()).toMatchObject({ status: 201 });
    const begun = jobFacts(fleet.workers, 'job.began').map(({ jobId }) => jobId);
    expect(ids.map((id) => begun.filter((one) => one === id).length)).toEqual([1, 1, 0, 0, 0, 0]);
  });

  it('the picture of a cancelled owner is removed', async () => {
    const { id, shortlink } = await diagramOf(fleet, { owner: 'trip:42' });
    await untilDiagram(fleet, id, 'completed');
    await redis.config('SET', 'maxmemory', 1);
    const cancel = await fleet.request('POST', '/v1/owners/trip/42/cancel', { reason: 'no room' });
    expect(cancel.status).toBe(200);
    await untilDiagram(fleet, id, 'cancelled');
    expect((await picture(fleet, shortlink)).status).toBe(410);
  });

  async function running(payload: object, more: object = {}): Promise<string> {
    const id = await fleet.probe(payload, more);
    await fleet.untilState(id, 'running');
    return id;
  }

  function enqueue(): Promise<Answer> {
    return fleet.request('POST', '/v1/jobs', { kind: 'probe', owners: ['trip:43'], payload: {} });
  }
});
