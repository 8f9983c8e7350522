import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { readdir } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { startOdd } from '../support/odd-worker.js';
import { until } from '../support/until.js';

const MANY = 200;
const A_YEAR_MS = 365 * 86_400_000;

describe('a finished job', () => {
  let fleet: Fleet;
  afterEach(() => fleet.stop());

  it('is removed with its artifacts at the end of its retention, even without other activity', async () => {
    fleet = await Fleet.start({
      janitor: true,
      env: { RETENTION_AGE: '2s', RETENTION_EVERY: '500ms', WORKER_CONCURRENCY: '20' },
    });
    const jobs = Array.from({ length: MANY }, (_, i) => ({
      kind: 'probe',
      owners: [`trip:${i % 7}`],
      payload: { artifactBytes: 9, failTimes: i % 10 === 0 ? 3 : 0 },
    }));
    const { body } = await fleet.request('POST', '/v1/jobs/batch', { jobs });
    const ids = (body['results'] as { id: string }[]).map(({ id }) => id);
    for (const id of ids) await fleet.untilState(id, 'removed');
    expect(await files()).toEqual([]);
    expect((await fleet.job(ids[0]!)).error).toMatch(
      /^retention by janitor: it ended more than 2 s ago \(it was failed\)$/,
    );
    await until(async () => (await keys('*{made:*')).length === 0, 'the index is empty');
  });

  it('is not swept again within half an interval, however many janitors there are', async () => {
    const env = { RETENTION_EVERY: '2s', EXPIRY_SWEEP_EVERY: '1h' };
    fleet = await Fleet.start({ workers: 0, janitor: true, env });
    await fleet.untilReady(fleet.addJanitor(env));
    const swept = await until(async () => {
      const { body } = await fleet.request('GET', '/v1/admin/sweeps');
      const sweeps = body['sweeps'] as Record<'sweep' | 'state' | 'askedAt' | 'endedAt', string>[];
      const found = sweeps.filter(({ sweep, state }) => sweep === 'retention' && state === 'done');
      return found.length >= 4 && found;
    }, 'there were four');
    for (const [i, { askedAt }] of swept.slice(0, -1).entries())
      expect(Date.parse(askedAt) - Date.parse(swept[i + 1]!.endedAt)).toBeGreaterThanOrEqual(1_000);
  });

  it('that BullMQ has removed leaves artifacts that one sweep removes', async () => {
    fleet = await Fleet.start({ janitor: true, env: { ARTIFACT_GRACE: '1ms', ARTIFACT_SWEEP_EVERY: '1h' } });
    const [gone, stays] = [await fleet.probe({ artifactBytes: 9 }), await fleet.probe({ artifactBytes: 9 })];
    for (const id of [gone, stays]) await fleet.untilState(id, 'completed');
    await evict(gone);
    expect(await files()).toHaveLength(2);
    const { body } = await fleet.request('POST', '/v1/admin/sweeps/artifacts', {});
    const record = await until(async () => {
      const { body: found } = await fleet.request('GET', `/v1/admin/sweeps/${String(body['sweepId'])}`);
      return found['state'] === 'done' && found;
    }, 'it is swept');
    expect(record).toMatchObject({
      seen: 2,
      removed: 1,
      kept: 1,
      lines: [{ what: gone, why: 'its job is gone' }],
    });
    expect(await files()).toEqual([expect.stringContaining(stays)]);
    expect(await fleet.job(stays)).toMatchObject({ state: 'completed', artifacts: [{ size: 9 }] });
  });

  it.each([A_YEAR_MS, -A_YEAR_MS])(
    "has the store's age for a janitor whose clock is %i ms off",
    async (shift) => {
      fleet = await Fleet.start();
      const id = await fleet.probe({ artifactBytes: 9 });
      await fleet.untilState(id, 'completed');
      const env = { RETENTION_EVERY: '100ms', ARTIFACT_SWEEP_EVERY: '100ms', CLOCK_SHIFT_MS: String(shift) };
      const janitor = startOdd('janitor', fleet, 'clock-shift', env);
      const swept = (kind: string): unknown =>
        janitor.facts().filter(({ event, sweep }) => event === 'sweep.done' && sweep === kind).length >= 2;
      await until(() => swept('retention') && swept('artifacts'), 'it has swept twice');
      expect(await fleet.job(id)).toMatchObject({ state: 'completed', artifacts: [{ size: 9 }] });
      const short = startOdd('janitor', fleet, 'clock-shift', { ...env, RETENTION_AGE: '1s' });
      await fleet.untilReady(short);
      await fleet.untilState(id, 'removed');
      expect(await files()).toEqual([]);
    },
  );

  it('that cannot be removed is listed in the quarantine', async () => {
    fleet = await Fleet.start({ workers: 0 });
    const redis = new Redis(fleet.storeUrl);
    const sweeps = `{${fleet.prefix}}~sweeps`;
    const failure = { tries: 5, at: 1_900_000_000_000, why: 'the bucket is shut' };
    await redis.zadd(`${sweeps}~quarantine`, failure.at, 'probe-1');
    await redis.hset(`${sweeps}~failures`, 'probe-1', JSON.stringify(failure));
    await redis.quit();
    const { body } = await fleet.request('GET', '/v1/admin/quarantine');
    const at = new Date(1_900_000_000_000).toISOString();
    expect(body).toEqual({ jobs: [{ jobId: 'probe-1', at, why: 'the bucket is shut' }], cursor: null });
  });

  /** Removes a job as BullMQ does when a queue exceeds its own retention limit. */
  async function evict(id: string): Promise<void> {
    const connection = new Redis(fleet.storeUrl, { maxRetriesPerRequest: null });
    const queue = new Queue('probe', { connection, prefix: `{${fleet.prefix}}` });
    expect(await queue.remove(id)).toBe(1);
    await queue.close();
    await connection.quit();
  }

  async function keys(pattern: string): Promise<string[]> {
    const redis = new Redis(fleet.storeUrl);
    const found = new Set<string>();
    for await (const page of redis.scanStream({ match: `${fleet.prefix}${pattern}`, count: 1_000 }))
      for (const key of page as string[]) found.add(key);
    await redis.quit();
    return [...found];
  }

  async function files(): Promise<string[]> {
    const all = await readdir(fleet.artifacts, { recursive: true, withFileTypes: true });
    const paths = all.filter((each) => each.isFile()).map(({ parentPath, name }) => `${parentPath}/${name}`);
    // The marker of the fleet stays.
    return paths.filter((path) => !path.includes('/fleets/'));
  }
});
