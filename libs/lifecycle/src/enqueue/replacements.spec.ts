import { Test, type TestingModule } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { defineKind, Enqueuer, LifecycleModule, owner, type Ticket } from '#lifecycle';
import { FoundJobs } from '../cancel/found.jobs.js';
import { Replacements } from './replacements.js';

const kind = defineKind({
  name: 'replaced',
  queue: 'replaced',
  payload: z.any(),
  dedup: { strategy: 'replace' },
});

describe('a replacement', () => {
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  let redis: Redis;
  let module: TestingModule;

  beforeEach(async () => {
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    await redis.ping();
    module = await Test.createTestingModule({
      imports: [
        LifecycleModule.forRootAsync({ useFactory: () => ({ redis, prefix }) }),
        LifecycleModule.forKinds([kind]),
      ],
    }).compile();
  });
  afterEach(async () => {
    await module.close();
    for (const key of await redis.keys(`*${prefix}*`)) await redis.unlink(key);
    await redis.quit();
  });

  const enqueue = (): Promise<Ticket> =>
    module.get(Enqueuer).enqueue(kind, {}, { owners: [owner('trip', '42')] });
  const isThere = async (jobId: string): Promise<boolean> =>
    (await module.get(FoundJobs).find(jobId)).job !== undefined;

  it('takes out the job whose place it has', async () => {
    const first = await enqueue();
    const second = await enqueue();
    expect(second.replaced).toBe(first.id);
    expect([await isThere(first.id), await isThere(second.id)]).toEqual([false, true]);
  });

  it('leaves a job alone that has its place anew', async () => {
    const { id } = await enqueue();
    const found = await module.get(FoundJobs).find(id);
    expect(await module.get(Replacements).takeOut(found, 'replaced-newer', Date.now())).toBe(false);
    expect(await isThere(id)).toBe(true);
  });
});
