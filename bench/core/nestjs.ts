import 'reflect-metadata';
import {
  defineKind,
  Enqueuer,
  Handler,
  Handles,
  KindProcessor,
  MooringModule,
  type MooringOptions,
} from '#nestjs';
import '#nestjs/register';
import { Processor } from '@nestjs/bullmq';
import { Module, type INestApplicationContext, type Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { z } from 'zod';
import { extrasOf } from './extras.js';
import type { Producer } from './producer.process.js';
import {
  KEEP_AGE_S,
  KEEP_COUNT,
  LOCK_MS,
  payload,
  PREFIX,
  PRIORITY,
  QUEUE,
  work,
  type Payload,
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
class BenchHandler extends Handler<typeof benchKind> {
  constructor(private readonly handler: HandlerMs) {
    super();
  }

  handle(_payload: Payload): Promise<void> {
    return work(this.handler.ms);
  }
}

@Processor(QUEUE)
class BenchProcessor extends KindProcessor {}

@Module({})
class BenchModule {}

/** Enqueues a kind in a Nest application. A batch is many calls at once, as `enqueueAll` makes them. */
export async function nestProducer(url: string): Promise<Producer> {
  const app = await start(url);
  const enqueuer = app.get(Enqueuer);
  const add: Producer['add'] = (n, { perOwner, extra }) =>
    enqueuer.enqueue(benchKind, payload(n), {
      owners: [`photo:${Math.floor(n / perOwner)}`],
      priority: PRIORITY,
      ...extrasOf(n, extra),
    });
  return {
    add,
    addMany: (from, count, manner) =>
      Promise.all(Array.from({ length: count }, (_, i) => add(from + i, manner))),
    close: () => app.close(),
  };
}

/** Runs the kind by its handler in a Nest application. */
export async function nestConsumer(
  url: string,
  ms: number,
  concurrency: number,
  completed: () => void,
): Promise<Consumer> {
  const providers = [{ provide: HandlerMs, useValue: new HandlerMs(ms) }, BenchHandler, BenchProcessor];
  return start(url, providers, {
    listeners: [({ event }) => event === 'job.completed' && completed()],
    worker: { concurrency, lockDuration: LOCK_MS, stalledInterval: LOCK_MS / 5, maxStalledCount: 3 },
  });
}

function start(
  url: string,
  providers: Provider[] = [],
  more: Partial<MooringOptions> = {},
): Promise<INestApplicationContext> {
  const options: MooringOptions = {
    connection: { url },
    prefix: PREFIX,
    // As in the core: it is checked, and never reached.
    maxWaiting: 10_000_000,
    listeners: [],
    ...more,
  };
  const imports = [MooringModule.forRoot(options), MooringModule.forKinds([benchKind])];
  return NestFactory.createApplicationContext(
    { module: BenchModule, imports, providers },
    { logger: ['error', 'warn'] },
  );
}
