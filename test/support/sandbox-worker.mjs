// A worker of one sandboxed kind, in a process of its own, to be killed: REDIS_URL, MOORING_PREFIX and KIND (its options) say the rest.
import 'reflect-metadata';
import { defineKind, LifecycleModule } from '#lifecycle';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { z } from 'zod';

class Worker {}

const { REDIS_URL, MOORING_PREFIX, KIND } = process.env;
const kind = defineKind({
  ...JSON.parse(KIND),
  payload: z.any(),
  sandbox: new URL('./odd.sandbox.mjs', import.meta.url),
});
const redis = new Redis(REDIS_URL, { maxRetriesPerRequest: null });
const options = { redis, prefix: MOORING_PREFIX, worker: { lockMs: 2_000, drainMs: 2_000 } };
await NestFactory.createApplicationContext(
  {
    module: Worker,
    imports: [LifecycleModule.forRootAsync({ useFactory: () => options }), LifecycleModule.forKinds([kind])],
  },
  { logger: false, abortOnError: false },
);
