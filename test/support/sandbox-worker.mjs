// A worker of one sandboxed kind in a process of its own, for tests that kill it: configured by REDIS_URL,
// MOORING_PREFIX and KIND (its options).
import 'reflect-metadata';
import { defineKind, KindProcessor, MooringModule } from '#nestjs';
import '#nestjs/register';
import { Processor } from '@nestjs/bullmq';
import { NestFactory } from '@nestjs/core';
import { z } from 'zod';

const { REDIS_URL, MOORING_PREFIX, KIND } = process.env;
const kind = defineKind({
  ...JSON.parse(KIND),
  payload: z.any(),
  sandbox: new URL('./odd.sandbox.mjs', import.meta.url),
});

class Renders extends KindProcessor {}
Processor(kind.queue)(Renders);

class Worker {}

const options = {
  connection: { url: REDIS_URL },
  prefix: MOORING_PREFIX,
  worker: { lockDuration: 2_000, shutdownTimeout: 2_000 },
};
await NestFactory.createApplicationContext(
  {
    module: Worker,
    imports: [MooringModule.forRoot(options), MooringModule.forKinds([kind])],
    providers: [Renders],
  },
  { logger: false, abortOnError: false },
);
