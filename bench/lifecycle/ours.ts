import 'reflect-metadata';
import {
  defineKind,
  Enqueuer,
  Handler,
  Handles,
  LifecycleModule,
  owner,
  type EnqueueOptions,
  type WorkerOptions,
} from '#lifecycle';
import { Injectable, Module, type DynamicModule, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { z } from 'zod';
import {
  KEEP_AGE_S,
  KEEP_COUNT,
  LOCK_MS,
  payload,
  PRIORITY,
  QUEUE,
  work,
  type Payload,
  type PerOwner,
} from './work.js';
import type { Consumer } from './worker.process.js';

const benchKind = defineKind({
  name: 'bench',
  queue: QUEUE,
  payload: z.object({
    photoId: z.string(),
    bucket: z.string(),
    widths: z.array(z.number()),
    formats: z.array(z.string()),
    requestedBy: z.string(),
  }),
  keep: { age: KEEP_AGE_S * 1_000, count: KEEP_COUNT },
});

class HandlerMs {
  constructor(readonly ms: number) {}
}

@Handles(benchKind)
@Injectable()
class BenchHandler extends Handler<typeof benchKind> {
  constructor(private readonly handler: HandlerMs) {
    super();
  }

  handle(_payload: Payload): Promise<void> {
    return work(this.handler.ms);
  }
}

@Module({})
class BenchModule {
  static with(redis: Redis, completed?: () => void, ms = 0, worker?: WorkerOptions): DynamicModule {
    return {
      module: BenchModule,
      imports: [
        LifecycleModule.forRootAsync({
          useFactory: () => ({
            redis,
            prefix: 'bench',
            maxWaiting: 10_000_000,
            storeTimeoutMs: 60_000,
            ...(completed && { listeners: [({ event }) => event === 'job.completed' && completed()] }),
            ...(worker && { worker }),
          }),
        }),
        LifecycleModule.forKinds([benchKind]),
      ],
      providers: worker ? [{ provide: HandlerMs, useValue: new HandlerMs(ms) }, BenchHandler] : [],
    };
  }
}

export interface OurProducer {
  add(n: number, perOwner: PerOwner, extras?: Pick<EnqueueOptions, 'dedup' | 'slot'>): Promise<unknown>;
  addMany(from: number, count: number, perOwner: PerOwner): Promise<unknown>;
  close(): Promise<void>;
}

/** Enqueues through the library, in a Nest application of its own. */
export async function ourProducer(url: string): Promise<OurProducer> {
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  // Only what is asked once the connection stands is accepted.
  await redis.ping();
  const app = await start(BenchModule.with(redis));
  const enqueuer = app.get(Enqueuer);
  const add: OurProducer['add'] = (n, perOwner, extras) =>
    enqueuer.enqueue(benchKind, payload(n), {
      owners: [owner('photo', String(Math.floor(n / perOwner)))],
      priority: PRIORITY,
      ...extras,
    });
  return {
    add,
    addMany: (from, count, perOwner) =>
      Promise.all(Array.from({ length: count }, (_, i) => add(from + i, perOwner))),
    close: () => end(app, redis),
  };
}

/** Takes jobs through the library, in a Nest application of its own. */
export async function ourConsumer(
  url: string,
  ms: number,
  concurrency: number,
  completed: () => void,
): Promise<Consumer> {
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  const app = await start(BenchModule.with(redis, completed, ms, { concurrency, lockMs: LOCK_MS }));
  return { close: () => end(app, redis) };
}

async function start(module: DynamicModule): Promise<INestApplicationContext> {
  return NestFactory.createApplicationContext(module, { logger: ['error', 'warn'] });
}

async function end(app: INestApplicationContext, redis: Redis): Promise<void> {
  await app.close();
  redis.disconnect();
}
