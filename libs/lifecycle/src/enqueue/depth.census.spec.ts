import { Test, type TestingModule } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { QueueFullError } from '../errors.js';
import { defineKind } from '../kinds/kind.js';
import { owner } from '../kinds/owner.js';
import { LifecycleModule } from '../lifecycle.module.js';
import { Queues } from '../queues.js';
import { Store } from '../store.js';
import { Admission } from './admission.js';
import { DepthCensus } from './depth.census.js';
import { Enqueuer, type Ticket } from './enqueuer.js';

const MAX = 4;
const MAX_PER_OWNER = 2;
const work = defineKind({ name: 'work', queue: 'work', payload: z.any(), maxPerOwner: MAX_PER_OWNER });

describe('limits', () => {
  let prefix: string;
  let redis: Redis;
  let module: TestingModule;
  let census: DepthCensus;
  beforeEach(async () => {
    prefix = `test-${randomBytes(6).toString('hex')}`;
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    module = await Test.createTestingModule({
      imports: [
        LifecycleModule.forRootAsync({ useFactory: () => ({ redis, prefix, maxWaiting: MAX }) }),
        LifecycleModule.forKinds([work]),
      ],
    }).compile();
    census = module.get(DepthCensus);
    await redis.ping();
  });
  afterEach(async () => {
    await module.get(Queues).get('work').obliterate();
    await redis.unlink(await redis.keys(`${prefix}:*`));
    expect(await redis.keys(`*${prefix}*`)).toEqual([]);
    await module.close();
    await redis.quit();
  });

  const enqueue = (...ids: string[]): Promise<Ticket> =>
    module.get(Enqueuer).enqueue(work, {}, { owners: ids.map((id) => owner('site', id)) });
  const counted = async (): Promise<string | null> => redis.hget(`${prefix}:{queue:work}`, 'n');
  const keysOf = async (): Promise<string[]> => (await redis.keys(`*${prefix}*`)).toSorted();
  const indexOf = async (): Promise<unknown> => {
    const records = (await redis.keys(`${prefix}:{*}`)).filter((key) => !/\{(queue|owners):/.test(key));
    const fields = await Promise.all(records.map((key) => redis.hkeys(key)));
    return fields.flat().filter((field) => field.startsWith('j')).length;
  };

  describe('of an owner', () => {
    it('are exact under many at once', async () => {
      const answers = await Promise.allSettled(Array.from({ length: 20 }, () => enqueue('1')));
      const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
      for (const reason of refused) expect(reason).toBeInstanceOf(QueueFullError);
      expect([refused.length, await indexOf()]).toEqual([20 - MAX_PER_OWNER, MAX_PER_OWNER]);
    });

    it('let others in', async () => {
      await Promise.all(Array.from({ length: MAX_PER_OWNER }, () => enqueue('1')));
      const before = await keysOf();
      await expect(enqueue('1')).rejects.toThrow(new QueueFullError('Owner "site:1"', MAX_PER_OWNER, 1_000));
      expect(await keysOf()).toEqual(before);
      expect((await enqueue('2')).outcome).toBe('created');
    });

    it('count for each of a job’s owners, and a job refused by one has no place with any', async () => {
      await Promise.all(Array.from({ length: MAX_PER_OWNER }, () => enqueue('1')));
      await expect(enqueue('2', '3', '1')).rejects.toThrow(QueueFullError);
      expect(await indexOf()).toBe(MAX_PER_OWNER);
      expect((await enqueue('2', '3')).outcome).toBe('created');
      expect(await indexOf()).toBe(MAX_PER_OWNER + 2);
    });
  });

  describe('of a queue', () => {
    it('are mended when three looks found the same', async () => {
      await enqueue('1');
      await redis.hset(`${prefix}:{queue:work}`, 'n', MAX);
      await expect(enqueue('2')).rejects.toThrow(QueueFullError);

      expect([await census.look(), await census.look()]).toEqual([[], []]);
      expect(await counted()).toBe(String(MAX));
      expect(await census.look()).toEqual([{ queue: 'work', by: 1 - MAX }]);
      expect(await counted()).toBe('1');
      expect((await enqueue('2')).outcome).toBe('created');
    });

    it('are mended by what the looks agree on', async () => {
      await enqueue('1');
      await redis.hset(`${prefix}:{queue:work}`, 'n', 0);
      await census.look();
      await enqueue('2');
      await redis.hset(`${prefix}:{queue:work}`, 'n', 0);
      await census.look();
      expect(await census.look()).toEqual([{ queue: 'work', by: 1 }]);
    });

    it('are left alone while a job is on its way', async () => {
      await census.look();
      await module.get(Admission).enter('work');
      await census.look();
      module.get(Admission).leave('work');
      await enqueue('1');
      const looks = [await census.look(), await census.look(), await census.look()];
      expect(looks).toEqual([[], [], []]);
      expect(await counted()).toBe('1');
    });

    it('are mended once, whoever sees it', async () => {
      const other = new DepthCensus({ redis, prefix }, module.get(Queues), module.get(Store));
      await enqueue('1');
      await redis.hset(`${prefix}:{queue:work}`, 'n', 3);
      for (const one of [census, other, census, other]) await one.look();
      const [mine, theirs] = await Promise.all([census.look(), other.look()]);
      expect([...mine, ...theirs]).toEqual([{ queue: 'work', by: -2 }]);
      expect(await counted()).toBe('1');
    });
  });
});
