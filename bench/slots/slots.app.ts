import 'reflect-metadata';
import {
  defineKind,
  Handler,
  Handles,
  KindProcessor,
  MooringModule,
  type KindWorkerOptions,
  type MooringOptions,
  type Payload,
} from '#nestjs';
import '#nestjs/register';
import { Processor } from '@nestjs/bullmq';
import { Injectable, Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';

export const PREFIX = '{bench}';

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

@Processor(work.queue)
class WorkProcessor extends KindProcessor {}

@Module({})
class BenchModule {}

/** A plain application that enqueues, and that works too when it is told how. */
export async function startApp(redis: Redis, worker?: KindWorkerOptions): Promise<INestApplicationContext> {
  await redis.ping();
  const options: MooringOptions = {
    connection: redis,
    prefix: PREFIX,
    listeners: [],
    ...(worker && { worker }),
  };
  return NestFactory.createApplicationContext(
    {
      module: BenchModule,
      imports: [MooringModule.forRoot(options), MooringModule.forKinds([work])],
      providers: worker ? [WorkHandler, WorkProcessor] : [],
    },
    { logger: ['error', 'warn'] },
  );
}
