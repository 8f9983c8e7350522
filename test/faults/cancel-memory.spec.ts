import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Receipt } from '#lifecycle';
import { Fleet } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { jobFacts } from '../support/life-facts.js';
import { TestStore } from '../support/store.js';
import { until } from '../support/until.js';

/** F9: a store at its memory limit takes no new job, and a cancel all the same: it is what makes room. */
describe('while the store has no room', () => {
  let store: TestStore;
  let redis: Redis;
  let fleet: Fleet;
  beforeEach(async () => {
    store = await TestStore.start('--maxmemory-policy', 'noeviction');
    redis = new Redis(store.url);
    fleet = await Fleet.start({ storeUrl: store.url, workers: 1, env: { WORKER_LOCK: '2s' } });
  });
  afterEach(async () => {
    await redis.config('SET', 'maxmemory', 0);
    await untilNothingIsLeft(store.url, fleet.prefix);
    await fleet.stop();
    await redis.quit();
    await store.stop();
  });

  it('a cancel removes what waits and stops what runs, once and for all', async () => {
    const slot = { key: 'driver:7', limit: 1 };
    const running = await fleet.probe({ ms: 60_000 }, { slot });
    await fleet.untilState(running, 'running');
    const others = [
      await fleet.probe({}, { slot }),
      await fleet.probe({}, { delay: '1h' }),
      await fleet.probe({}, { delay: '1h', dedup: { strategy: 'coalesce', key: 'k' } }),
      await fleet.probe({}, { delay: '1h', owners: ['site:1', 'trip:42'] }),
    ];
    await fleet.untilState(others[0]!, 'delayed');
    await fill();

    const refused = await fleet.request('POST', '/v1/jobs', {
      kind: 'probe',
      owners: ['trip:43'],
      payload: {},
    });
    expect(refused).toMatchObject({ status: 503, body: { code: 'STORE_UNAVAILABLE' } });
    const { status, body } = await fleet.request('POST', '/v1/owners/trip/42/cancel', {
      reason: 'no room',
      cancelId: 'c-1',
      wait: 'drained',
    });
    console.log(status, body, fleet.processes.flatMap((p) => p.facts()).filter(({ level, event }) => Number(level) >= 40 || String(event).startsWith('job.')));
    for (const id of [running, ...others]) console.log(await fleet.request('GET', `/v1/jobs/${id}`), fleet.api.facts().filter(({ level }) => Number(level) >= 50));
    expect({ status, body }).toMatchObject({ status: 200, body: { aborted: 1, running: 0, done: true } });
    const receipt = (await fleet.request('GET', '/v1/cancellations/c-1')).body as unknown as Receipt;
    expect(receipt.removed + receipt.aborted).toBeLessThanOrEqual(5);
    for (const id of [running, ...others])
      expect((await fleet.job(id)).state).toMatch(/removed|cancelled/);
    await expect(redis.set('name', 'ada')).rejects.toThrow(/^OOM/);

    await redis.config('SET', 'maxmemory', 0);
    await until(async () => (await fleet.request('POST', '/v1/jobs', { kind: 'probe', owners: ['trip:43'], payload: {} })).status === 201, 'jobs are taken again');
    expect(jobFacts(fleet.workers, 'job.began').filter(({ jobId }) => [running, ...others].includes(jobId))).toHaveLength(1);
  });

  async function fill(): Promise<void> {
    await redis.config('SET', 'maxmemory', 1);
    await expect(redis.set('name', 'ada')).rejects.toThrow(/^OOM/);
  }
});
