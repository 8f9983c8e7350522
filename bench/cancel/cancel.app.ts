import 'reflect-metadata';
import { owner } from '#core';
import {
  defineKind,
  Enqueuer,
  Handler,
  Handles,
  KindProcessor,
  MooringModule,
  type KindWorkerOptions,
  type MooringOptions,
  type Payload,
  type Run,
} from '#nestjs';
import '#nestjs/register';
import { Processor } from '@nestjs/bullmq';
import { Injectable, Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Redis } from 'ioredis';
import { z } from 'zod';

export const PREFIX = '{bench}';
export const PRIORITY = 100;

/** What a ride asks of a driver. */
export const offer = defineKind({
  name: 'offer',
  queue: 'trip-requests',
  payload: z.object({ tripId: z.string(), driverId: z.string() }),
});

/** What the worker's runs live through. */
export abstract class Watcher {
  abstract began(): void;
  abstract wasTold(): void;
}

/** Waits until it is told to stop. */
@Handles(offer)
@Injectable()
class OfferHandler extends Handler<typeof offer> {
  constructor(private readonly watcher: Watcher) {
    super();
  }

  async handle(_payload: Payload<typeof offer>, { signal }: Run): Promise<void> {
    this.watcher.began();
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => {
        this.watcher.wasTold();
        resolve();
      });
    });
  }
}

@Processor(offer.queue)
class OfferProcessor extends KindProcessor {}

@Module({})
class BenchModule {}

/** A plain application that enqueues and cancels, and optionally runs jobs. */
export async function startApp(
  redis: Redis,
  watcher?: Watcher,
  worker: KindWorkerOptions = {},
): Promise<INestApplicationContext> {
  await redis.ping();
  const options: MooringOptions = {
    connection: redis,
    prefix: PREFIX,
    maxWaiting: 10_000_000,
    listeners: [],
    worker,
  };
  return NestFactory.createApplicationContext(
    {
      module: BenchModule,
      imports: [MooringModule.forRoot(options), MooringModule.forKinds([offer])],
      providers: watcher ? [{ provide: Watcher, useValue: watcher }, OfferHandler, OfferProcessor] : [],
    },
    { logger: ['error', 'warn'] },
  );
}

const AT_ONCE = 1_000;

/** Enqueues jobs for a trip through the library. */
export async function enqueueFor(app: INestApplicationContext, tripId: string, count: number): Promise<void> {
  const enqueuer = app.get(Enqueuer);
  const options = { owners: [owner('trip', tripId)], priority: PRIORITY };
  for (let from = 0; from < count; from += AT_ONCE) {
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) =>
        enqueuer.enqueue(offer, { tripId, driverId: String(from + i) }, options),
      ),
    );
  }
}
