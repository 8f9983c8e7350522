import 'reflect-metadata';
import { openArtifacts, type Artifacts } from '#artifacts';
import { defineKind, LifecycleModule } from '#lifecycle';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Redis } from 'ioredis';
import { z } from 'zod';

export const PREFIX = 'bench';
export const KEPT = 1_000;

/** Renders something, and leaves it behind. */
export const render = defineKind({
  name: 'render',
  queue: 'render',
  payload: z.object({ page: z.number() }),
  keep: { age: '24h', count: KEPT },
});

export function artifactsIn(folder: string, redis: Redis): Artifacts {
  return openArtifacts(`file:${folder}`, redis, PREFIX);
}

@Module({})
class BenchModule {}

/** A plain application that removes what is finished, and what that left behind. */
export async function startApp(redis: Redis, folder: string): Promise<INestApplicationContext> {
  // Only what is asked once the connection stands is accepted.
  await redis.ping();
  const artifacts = artifactsIn(folder, redis);
  const options = { redis, prefix: PREFIX, artifacts, storeTimeoutMs: 60_000 };
  return NestFactory.createApplicationContext(
    {
      module: BenchModule,
      imports: [
        LifecycleModule.forRootAsync({ useFactory: () => options }),
        LifecycleModule.forKinds([render]),
      ],
    },
    { logger: ['error', 'warn'] },
  );
}
