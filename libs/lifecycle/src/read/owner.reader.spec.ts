import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { cancelByScript } from '../../../../test/support/cancel-door.js';
import { until } from '../../../../test/support/until.js';
import { Journal } from '../journal.js';
import { Keys } from '../keys.js';
import { newJobId } from '../kinds/ids.js';
import { owner } from '../kinds/owner.js';
import { Queues } from '../queues.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import { OwnerReader, type OwnerView } from './owner.reader.js';

const TRIP = owner('trip', '42');
const MANY = 400;

describe('what is read of an owner', () => {
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  const record = new Keys(prefix).owner(TRIP);
  let redis: Redis;
  let queue: Queue;
  let reader: OwnerReader;

  beforeEach(async () => {
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    await redis.ping();
    const options = { redis, prefix };
    queue = new Queue('q', { connection: redis, prefix: `{${prefix}}` });
    const queues = new Queues(options, new Journal(options));
    queues.add(queue);
    reader = new OwnerReader(options, queues, new Store(options));
  });
  afterEach(async () => {
    await queue.obliterate();
    await queue.close();
    await redis.unlink(
      record,
      `${record}:runs`,
      `${record}:cancels`,
      ...(await redis.keys(`${record}:cancel:*`)),
    );
    await redis.quit();
  });

  it('counts the jobs that were cancelled and have not left yet apart', async () => {
    await reserve(2);
    await cancelByScript(redis, prefix, 'trip:42');
    const ids = await reserve(1);
    const view = await reader.read(TRIP);
    expect(view.counts).toEqual({ jobs: 1, running: 0, ending: 2 });
    expect(view.jobs.map(({ id }) => id)).toEqual(ids);
  });

  it('counts those of a page with the others where there are many', async () => {
    await reserve(MANY);
    await cancelByScript(redis, prefix, 'trip:42');
    await reserve(MANY);
    const pages: OwnerView[] = [await reader.read(TRIP)];
    while (pages.at(-1)!.cursor) pages.push(await reader.read(TRIP, pages.at(-1)!.cursor!));
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.map(({ counts: { jobs, ending } }) => jobs + ending)).toEqual(pages.map(() => 2 * MANY));
    expect(pages.reduce((sum, { counts }) => sum + counts.ending, 0)).toBe(MANY);
  });

  it('does not count a run whose lease has ended', async () => {
    const [dies, lives] = await reserve(2);
    const [epoch] = await redis.hmget(record, 'e');
    for (const [job, leaseMs] of [
      [dies!, 50],
      [lives!, 60_000],
    ] as const)
      await runScript(redis, 'begin', [record], ['', job, 'run', epoch!, '', leaseMs, '', 1]);
    await until(async () => (await reader.read(TRIP)).counts.running === 1, 'one of two lives');
    expect(await redis.zcard(`${record}:runs`)).toBe(2);
  });

  async function reserve(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, () => newJobId('q'));
    const args = ids.flatMap((id) => ['trip:42', id, '', '', '', '', '']);
    await runScript(
      redis,
      'reserve',
      ids.map(() => record),
      ['', ...args],
    );
    return ids;
  }
});
