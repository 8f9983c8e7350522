import { Test, type TestingModule } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { z } from 'zod';
import { defineKind, Enqueuer, LifecycleModule, owner, StoreUnavailableError, type Ticket } from '#lifecycle';
import { Twins } from './twins.js';
import { PLACE_GRACE_MS } from '../keys.js';
import { Queues } from '../queues.js';
import { recordOf } from '../../../../test/support/cancel-door.js';
import { Proxy } from '../../../../test/support/proxy.js';
import { until } from '../../../../test/support/until.js';

const kind = defineKind({ name: 'late', queue: 'late', payload: z.any() });
const SLOT = { key: 'driver:7', limit: 9 };
const RESERVE = /\r\nsite:1\r\n/;

/** Between its place and its job: others may take it for dead. */
describe('a slow producer', () => {
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  const record = recordOf(prefix, 'site:1');
  let proxy: Proxy;
  let redis: Redis;
  let direct: Redis;
  let module: TestingModule;

  beforeEach(async () => {
    proxy = await Proxy.start(inject('storeUrl'));
    redis = new Redis(proxy.url, { maxRetriesPerRequest: null });
    direct = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    module = await start(redis);
    await redis.ping();
    // From now on the store knows the scripts: what it is told to do once, it does at once.
    await module.get(Enqueuer).enqueue(kind, {}, { owners: [owner('site', '0')], slot: SLOT });
  });
  afterEach(async () => {
    proxy.cutHanging();
    proxy.release();
    await module.close();
    await redis.quit();
    const ours = await direct.keys(`*${prefix}*`);
    if (ours.length > 0) await direct.unlink(ours);
    await direct.quit();
    await proxy.stop();
  });

  const start = (connection: Redis): Promise<TestingModule> =>
    Test.createTestingModule({
      imports: [
        LifecycleModule.forRootAsync({ useFactory: () => ({ redis: connection, prefix }) }),
        LifecycleModule.forKinds([kind]),
      ],
    }).compile();
  const enqueue = (more: object = {}): Promise<Ticket> =>
    module.get(Enqueuer).enqueue(kind, {}, { owners: [owner('site', '1')], ...more });
  const places = async (): Promise<string[]> =>
    (await direct.hkeys(record)).filter((field) => field.startsWith('j'));
  const isInQueue = async (place: string): Promise<boolean> =>
    (await direct.exists(`{${prefix}}:late:${place.slice(1)}`)) === 1;

  const standing = async (): Promise<string[]> => {
    const [line] = await direct.keys(`${prefix}:{slot:*}:waiters`);
    return direct.zrange(line!, '0', '-1');
  };

  /** The store has given the place, and is silent for longer than its producer may take. */
  async function enqueueLate(more: object = {}): Promise<string> {
    const met = proxy.next('hang', RESERVE);
    const asked = performance.now();
    const answer = enqueue(more).catch((error: unknown) => error);
    await met;
    const [place] = await until(async () => (await places()).length === 1 && places(), 'it has its place');
    expect(await answer).toBeInstanceOf(StoreUnavailableError);
    await until(() => performance.now() - asked > PLACE_GRACE_MS / 2, 'half of the grace has passed');
    proxy.cutHanging();
    // What it does last.
    await until(async () => (await direct.hget(`${prefix}:{queue:late}`, 'n')) === '1', 'it has given up');
    return place!;
  }

  it('that hears of its place when half of the grace has passed adds nothing, and gives its place up', async () => {
    const place = await enqueueLate({ slot: SLOT });
    expect([await isInQueue(place), await places()]).toEqual([false, []]);
    expect(await standing()).not.toContain(place.slice(1));
  });

  it.each([
    ['deduplication key', { dedup: { strategy: 'skip' } }, 'skipped'],
    ['Idempotency-Key', { idempotencyKey: 'again' }, 'created'],
  ])(
    'leaves its place then to others that may know of it by its %s: the next call adds the job',
    async (_, more, outcome) => {
      const place = await enqueueLate(more);
      expect([await isInQueue(place), await places()]).toEqual([false, [place]]);

      expect(await enqueue(more)).toMatchObject({ outcome, id: place.slice(1) });
      expect([await isInQueue(place), await places()]).toEqual([true, [place]]);
    },
  );

  it.each(['skip', 'coalesce'] as const)(
    'is waited for by a trigger with %s, whose twin it is about to add as only it knows it',
    async (strategy) => {
      const dedup = { strategy };
      const other = await start(direct);
      const met = proxy.next('hold', /"o":\["site:1/);
      const owners = [owner('site', '1'), owner('driver', '7')];
      const first = module.get(Enqueuer).enqueue(kind, 'first', { owners, dedup, delay: '1h' });
      await met;
      const looks = vi.spyOn(other.get(Twins), 'look');
      const second = other.get(Enqueuer).enqueue(kind, 'second', { owners, dedup });
      await until(() => looks.mock.calls.length >= 2, 'it was looked for again', 5_000);
      proxy.release();

      const { id } = await first;
      expect(await second).toMatchObject({ outcome: strategy === 'skip' ? 'skipped' : 'coalesced', id });
      const job = await module.get(Queues).get('late').getJob(id);
      expect(job?.data).toMatchObject({ o: ['site:1', 'driver:7'], b: 'first' });
      await other.close();
    },
  );
});
