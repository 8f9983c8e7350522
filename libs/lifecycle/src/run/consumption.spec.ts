import { Test, type TestingModule } from '@nestjs/testing';
import type { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { Enqueuer, type Ticket } from '../enqueue/enqueuer.js';
import { openEnvelope } from '../kinds/envelope.js';
import { defineKind } from '../kinds/kind.js';
import { owner } from '../kinds/owner.js';
import { LifecycleModule } from '../lifecycle.module.js';
import { Queues } from '../queues.js';
import { Consumption } from './consumption.js';
import { QueueWorkers } from './queue-workers.js';
import { Run } from './run.js';
import { RunningJobs } from './running-jobs.js';

const thumbnail = defineKind({ name: 'thumbnail', queue: 'media', payload: z.object({}) });
const CONCURRENCY = 2;

/** Workers that say they run, and take nothing: what a connection that died quietly looks like. */
const deafWorkers = { queues: () => ['media'] };

describe('the consumption of a queue', () => {
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  // Far enough back that a job taken now was taken between two looks.
  const start = Date.now() - 10_000;
  let redis: Redis;
  let module: TestingModule;
  let consumption: Consumption;
  let running: RunningJobs;
  let queue: Queue;

  beforeEach(async () => {
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    module = await Test.createTestingModule({
      imports: [
        LifecycleModule.forRootAsync({
          useFactory: () => ({ redis, prefix, worker: { concurrency: CONCURRENCY } }),
        }),
        LifecycleModule.forKinds([thumbnail]),
      ],
    })
      .overrideProvider(QueueWorkers)
      .useValue(deafWorkers)
      .compile();
    consumption = module.get(Consumption);
    running = module.get(RunningJobs);
    queue = module.get(Queues).get('media');
    await redis.ping();
  });

  afterEach(async () => {
    await queue.obliterate({ force: true });
    // Behind the library's back: its own books still have the jobs that never ran.
    for (const key of await redis.keys(`${prefix}:*`)) await redis.del(key);
    expect(await redis.keys(`*${prefix}*`)).toEqual([]);
    await module.close();
    await redis.quit();
  });

  const enqueue = (delay = 0): Promise<Ticket> =>
    module.get(Enqueuer).enqueue(thumbnail, {}, { owners: [owner('trip', '42')], delay });
  const take = async ({ id }: Ticket): Promise<Run> => {
    const job = (await queue.getJob(id))!;
    const run = new Run(job, thumbnail, openEnvelope(job), [], 'token', () => undefined);
    running.noteTaken(job.queueName);
    running.add(run);
    return run;
  };

  it('is not stuck when nothing waits', async () => {
    expect(await consumption.stuckQueues(start)).toEqual([]);
    expect(await consumption.stuckQueues(start + 60_000)).toEqual([]);
  });

  it('is stuck when a job waits, there is room, and none is taken for 15 s', async () => {
    await enqueue();
    expect(await consumption.stuckQueues(start)).toEqual([]);
    expect(await consumption.stuckQueues(start + 14_999)).toEqual([]);
    expect(await consumption.stuckQueues(start + 15_000)).toEqual(['media']);
  });

  it('is not stuck while all that there is comes later', async () => {
    await enqueue(3_600_000);
    await consumption.stuckQueues(start);
    expect(await consumption.stuckQueues(start + 15_000)).toEqual([]);
  });

  it('is not stuck while the queue is paused, and gets its 15 s when it goes on', async () => {
    await enqueue();
    await consumption.stuckQueues(start);
    await queue.pause();
    expect(await consumption.stuckQueues(start + 15_000)).toEqual([]);
    await queue.resume();
    expect(await consumption.stuckQueues(start + 15_000)).toEqual([]);
    expect(await consumption.stuckQueues(start + 29_999)).toEqual([]);
    expect(await consumption.stuckQueues(start + 30_000)).toEqual(['media']);
  });

  it('is not stuck while as many run as may', async () => {
    const tickets = await Promise.all([enqueue(), enqueue(), enqueue()]);
    const [first] = await Promise.all(tickets.slice(0, CONCURRENCY).map(take));
    await consumption.stuckQueues(start);
    expect(await consumption.stuckQueues(start + 60_000)).toEqual([]);

    running.remove(first!);
    expect(await consumption.stuckQueues(start + 60_000)).toEqual([]);
    expect(await consumption.stuckQueues(start + 75_000)).toEqual(['media']);
  });

  it('is not stuck within 15 s of a job that was taken', async () => {
    const [taken] = await Promise.all([enqueue(), enqueue()]);
    await consumption.stuckQueues(start);
    running.remove(await take(taken));
    const takenAt = running.lastTakenAt('media');

    expect(await consumption.stuckQueues(start + 15_000)).toEqual([]);
    expect(await consumption.stuckQueues(takenAt + 14_999)).toEqual([]);
    expect(await consumption.stuckQueues(takenAt + 15_000)).toEqual(['media']);
  });

  it('is well again when the jobs are gone', async () => {
    await enqueue();
    await consumption.stuckQueues(start);
    expect(await consumption.stuckQueues(start + 15_000)).toEqual(['media']);
    await queue.drain();
    expect(await consumption.stuckQueues(start + 15_000)).toEqual([]);
  });
});
