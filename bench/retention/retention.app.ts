import 'reflect-metadata';
import { openArtifacts, type Artifacts } from '#artifacts';
import { defineKind, MooringModule, type MooringOptions } from '#nestjs';
import '#nestjs/register';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Redis } from 'ioredis';
import { z } from 'zod';

const FLEET = 'bench';
export const PREFIX = `{${FLEET}}`;
export const KEPT = 1_000;

/** Renders something, and leaves it behind. */
export const render = defineKind({
  name: 'render',
  queue: 'render',
  payload: z.object({ page: z.number() }),
  keep: { age: '24h', count: KEPT },
  artifacts: true,
});

export function artifactsIn(folder: string, redis: Redis): Artifacts {
  return openArtifacts(`file:${folder}`, redis, FLEET);
}

@Module({})
class BenchModule {}

/** A plain application that removes what is finished, and what that left behind. */
export async function startApp(redis: Redis, folder: string): Promise<INestApplicationContext> {
  await redis.ping();
  const artifacts = artifactsIn(folder, redis);
  const options: MooringOptions = { connection: redis, prefix: PREFIX, artifacts, listeners: [] };
  return NestFactory.createApplicationContext(
    {
      module: BenchModule,
      imports: [MooringModule.forRoot(options), MooringModule.forKinds([render])],
    },
    { logger: ['error', 'warn'] },
  );
}
