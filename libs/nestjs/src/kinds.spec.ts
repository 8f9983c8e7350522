import 'reflect-metadata';
import { MooredQueue, owner, Owners } from '#core';
import { BullModule, InjectQueue, Processor } from '@nestjs/bullmq';
import { Injectable, Module, type INestApplicationContext, type Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { until } from '../../../test/support/until.js';
import { Enqueuer } from './enqueue/enqueuer.js';
import { defineKind, type Kind, type Payload } from './kinds/kind.js';
import { MooringModule } from './mooring.module.js';
import './register.js';
import { Handler, Handles } from './run/handler.js';
import { KindProcessor } from './run/kind-processor.js';
import type { Run } from './run/run.js';
import { SnoozeJob } from './run/snooze-job.js';

const thumbnail = defineKind({
  name: 'media.thumbnail',
  queue: 'media',
  payload: z.object({ photoId: z.string(), mode: z.string().default('quick') }),
  owners: ({ photoId }) => [owner('photo', photoId)],
  attempts: 3,
  backoff: ['1ms', '1ms'],
  timeout: '1m',
  dedup: { strategy: 'skip' },
});

const seen: {
  payload: Payload<typeof thumbnail>;
  attempt: number;
  owners: readonly unknown[];
  reason?: unknown;
}[] = [];

@Injectable()
@Handles(thumbnail)
class ThumbnailHandler extends Handler<typeof thumbnail> {
  async handle(payload: Payload<typeof thumbnail>, run: Run): Promise<unknown> {
    const { attempt, owners, signal } = run;
    const entry: (typeof seen)[number] = { payload, attempt, owners };
    seen.push(entry);
    if (payload.mode === 'fails twice' && attempt < 3) throw new Error('no');
    if (payload.mode === 'early' && seen.length === 1) throw new SnoozeJob('the photo', 1);
    if (payload.mode === 'long') {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      entry.reason = signal.reason;
      throw new Error('stopped');
    }
    await run.progress(100);
    return { size: 64 };
  }
}

const short = defineKind({
  name: 'media.short',
  queue: 'media',
  payload: z.object({}),
  owners: () => ['photo:1'],
  timeout: '20ms',
});

@Injectable()
@Handles(short)
class ShortHandler extends Handler<typeof short> {
  async handle(_payload: Payload<typeof short>, { signal, attempt, owners }: Run): Promise<void> {
    if (!signal.aborted) await once(signal, 'abort');
    seen.push({ payload: { photoId: '', mode: '' }, attempt, owners, reason: signal.reason });
  }
}

@Processor('media', { concurrency: 5 })
class MediaProcessor extends KindProcessor {}

describe('kinds', () => {
  let redis: Redis;
  let prefix: string;
  let app: INestApplicationContext | undefined;
  let owners: Owners;

  beforeEach(() => {
    seen.length = 0;
    prefix = `test-nest-${randomBytes(4).toString('hex')}`;
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    owners = new Owners({ connection: redis, prefix });
  });

  afterEach(async () => {
    await app?.close();
    app = undefined;
    await owners.close();
    const keys = await redis.keys(`${prefix}*`);
    if (keys.length > 0) await redis.del(keys);
    redis.disconnect();
  });

  async function start(
    providers: Provider[],
    kinds: readonly Kind[] = [thumbnail],
  ): Promise<INestApplicationContext> {
    @Module({
      imports: [MooringModule.forRoot({ connection: redis, prefix }), MooringModule.forKinds(kinds)],
      providers,
    })
    class App {}
    app = await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false });
    return app;
  }

  it("go from the enqueuer to their handler, with the caller's payload", async () => {
    const enqueuer = (await start([ThumbnailHandler, MediaProcessor])).get(Enqueuer);

    const ticket = await enqueuer.enqueue(thumbnail, { photoId: '7' });

    expect(ticket).toEqual({
      outcome: 'created',
      id: ticket.id,
      kind: 'media.thumbnail',
      queue: 'media',
      owners: ['photo:7'],
    });
    const queue = new MooredQueue('media', { connection: redis, prefix });
    await until(async () => (await queue.getJobState(ticket.id)) === 'completed', 'it completed');
    const job = await queue.getJob(ticket.id);
    await queue.close();
    expect(job).toMatchObject({
      name: 'media.thumbnail',
      data: { photoId: '7' },
      returnvalue: { size: 64 },
      progress: 100,
    });
    expect(seen).toEqual([
      { payload: { photoId: '7', mode: 'quick' }, attempt: 1, owners: [{ type: 'photo', id: '7' }] },
    ]);
  });

  it('are retried by their backoff, and a snoozed one is called again without counting an attempt', async () => {
    const enqueuer = (await start([ThumbnailHandler, MediaProcessor])).get(Enqueuer);

    await enqueuer.enqueue(thumbnail, { photoId: '1', mode: 'early' });
    await until(() => seen.length === 2, 'it came again');
    await enqueuer.enqueue(thumbnail, { photoId: '2', mode: 'fails twice' });
    await until(() => seen.length === 5, 'it was tried three times');

    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 2, 3]);
  });

  it('are stopped by a cancel of their owner, and told why', async () => {
    const enqueuer = (await start([ThumbnailHandler, MediaProcessor])).get(Enqueuer);
    await enqueuer.enqueue(thumbnail, { photoId: '1', mode: 'long' });
    await until(() => seen.length === 1, 'it runs');

    const receipt = await owners.cancel('photo:1', { wait: 'drained' });

    expect({ aborted: receipt.aborted, done: receipt.done, reason: seen[0]!.reason }).toEqual({
      aborted: 1,
      done: true,
      reason: 'cancelled',
    });
    await expect(enqueuer.enqueue(thumbnail, { photoId: '1' })).rejects.toMatchObject({
      code: 'OWNER_CLOSED',
    });
  });

  it('are told to stop at their timeout', async () => {
    const enqueuer = (await start([ShortHandler, MediaProcessor], [short])).get(Enqueuer);

    await enqueuer.enqueue(short, {});

    await until(() => seen[0]?.reason === 'timeout', 'it was told');
  });

  it('join a pending job of the same owner and key', async () => {
    const enqueuer = (await start([])).get(Enqueuer);

    const first = await enqueuer.enqueue(thumbnail, { photoId: '1' });
    const second = await enqueuer.enqueue(thumbnail, { photoId: '1' });
    const other = await enqueuer.enqueue(
      thumbnail,
      { photoId: '1' },
      { dedup: { strategy: 'skip', key: 'b' } },
    );

    expect([second.outcome, second.id, other.outcome]).toEqual(['skipped', first.id, 'created']);
  });

  it('are refused before anything is written when the request is invalid', async () => {
    const enqueuer = (await start([])).get(Enqueuer);
    const refused = (payload: unknown, options = {}) =>
      enqueuer.enqueue(thumbnail, payload as never, options).then(
        () => 'accepted',
        (error: { code?: string }) => error.code,
      );

    expect(await refused({ photoId: 1 })).toBe('INVALID');
    expect(await refused({ photoId: 'x'.repeat(300_000) })).toBe('TOO_LARGE');
    expect(await refused({ photoId: '1' }, { priority: 0 })).toBe('INVALID');
    expect(await refused({ photoId: '1' }, { owners: ['nonsense'] })).toBe('INVALID');
    expect(
      await refused({ photoId: '1' }, { delay: '2m', expiresIn: '1m', dedup: { strategy: 'none' } }),
    ).toBe('INVALID');
    const unknown = defineKind({ ...thumbnail, name: 'media.thumbnails', backoff: [1] } as never);
    await expect(enqueuer.enqueue(unknown, {})).rejects.toThrow(
      'Register it with MooringModule.forKinds([…]).',
    );
    expect((await redis.keys(`${prefix}*`)).filter((key) => !/:meta$|~partitions$/.test(key))).toEqual([]);
  });

  it('are delayed without counting an attempt when a worker cannot read them or has no handler', async () => {
    await start([ThumbnailHandler, MediaProcessor]);
    const queue = new MooredQueue('media', { connection: redis, prefix });
    const jobs = await queue.addBulk([
      { name: 'media.thumbnail', data: { photo: 'of an older release' } },
      { name: 'media.video', data: {} },
    ]);

    await until(async () => (await queue.getDelayedCount()) === 2, 'both are put off');

    const states = await Promise.all(jobs.map(async ({ id }) => (await queue.getJob(id!))!.attemptsMade));
    await queue.close();
    expect(states).toEqual([0, 0]);
    expect(seen).toEqual([]);
  });

  it('are injected with their queue, which all modules share', async () => {
    @Injectable()
    class Uploads {
      constructor(@InjectQueue('media') readonly queue: MooredQueue) {}
    }
    const { queue } = (await start([Uploads])).get(Uploads);

    expect(queue).toBeInstanceOf(MooredQueue);
  });

  it.each([
    [
      [MediaProcessor],
      'Kind "media.thumbnail" has no handler: decorate one with @Handles(…) and provide it.',
    ],
    [
      [MediaProcessor, ThumbnailHandler, { provide: 'another', useClass: ThumbnailHandler }],
      'Kind "media.thumbnail" has 2 handlers: ThumbnailHandler, ThumbnailHandler.',
    ],
  ])('without exactly one handler are refused at the start', async (providers, problem) => {
    await expect(start(providers as Provider[])).rejects.toThrow(problem);
  });

  it('whose queue the application has registered as well are refused at the start', async () => {
    const registered = BullModule.registerQueue({ name: 'media', connection: redis, prefix });
    @Module({
      imports: [
        registered,
        MooringModule.forRoot({ connection: redis, prefix }),
        MooringModule.forKinds([thumbnail]),
      ],
    })
    class App {}

    await expect(
      NestFactory.createApplicationContext(App, { logger: false, abortOnError: false }),
    ).rejects.toThrow('The queue "media" is registered twice');
  });
});
