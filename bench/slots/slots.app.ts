import 'reflect-metadata';
import { defineKind, Handler, Handles, LifecycleModule, type Payload, type WorkerOptions } from '#lifecycle';
import { Injectable, Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';

export const PREFIX = 'bench';

export const work = defineKind({
  name: 'work',
  queue: 'work',
  payload: z.object({ ms: z.number() }),
});

@Handles(work)
@Injectable()
class WorkHandler extends Handler<typeof work> {
  async handle({ ms }: Payload<typeof work>): Promise<void> {
    await pause(ms);
  }
}

@Module({})
class BenchModule {}

/** A plain application that enqueues, and that works too when it is told how. */
export async function startApp(redis: Redis, worker?: WorkerOptions): Promise<INestApplicationContext> {
  await redis.ping();
  const options = { redis, prefix: PREFIX, storeTimeoutMs: 60_000, ...(worker && { worker }) };
  return NestFactory.createApplicationContext(
    {
      module: BenchModule,
      imports: [
        LifecycleModule.forRootAsync({ useFactory: () => options }),
        LifecycleModule.forKinds([work]),
      ],
      providers: worker ? [WorkHandler] : [],
    },
    { logger: ['error', 'warn'] },
  );
}
