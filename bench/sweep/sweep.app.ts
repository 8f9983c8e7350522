import 'reflect-metadata';
import { defineKind, Enqueuer, LifecycleModule, owner, type OwnerResolver } from '#lifecycle';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Redis } from 'ioredis';
import { z } from 'zod';

export const PREFIX = 'bench';
const payload = z.object({ tripId: z.string(), driverId: z.string() });

/** What a ride asks of a driver. */
export const offer = defineKind({ name: 'offer', queue: 'trip-requests', payload });
/** What becomes of it when nobody accepts. */
export const timeout = defineKind({ name: 'timeout', queue: 'trip-timeouts', payload });

@Module({})
class BenchModule {}

/** A plain application that enqueues, and that sweeps too when it is told who knows the trips. */
export async function startApp(redis: Redis, trips?: OwnerResolver): Promise<INestApplicationContext> {
  // Only what is asked once the connection stands is accepted.
  await redis.ping();
  const options = {
    redis,
    prefix: PREFIX,
    maxWaiting: 10_000_000,
    storeTimeoutMs: 60_000,
    // Every sweep is a sighting, however soon it comes.
    ...(trips && { resolvers: new Map([['trip', trips]]), sweeps: { ownerGraceMs: 1 } }),
  };
  return NestFactory.createApplicationContext(
    {
      module: BenchModule,
      imports: [
        LifecycleModule.forRootAsync({ useFactory: () => options }),
        LifecycleModule.forKinds([offer, timeout]),
      ],
    },
    { logger: ['error', 'warn'] },
  );
}

const AT_ONCE = 1_000;
const DUE_IN = '1h';

/** Gives each trip so many jobs: half of them wait for a worker, the others for their time. */
export async function enqueueFor(
  app: INestApplicationContext,
  tripIds: readonly string[],
  each: number,
): Promise<void> {
  const enqueuer = app.get(Enqueuer);
  const count = tripIds.length * each;
  const enqueue = (i: number): Promise<unknown> => {
    // Those of a trip far apart, as they come to be where many trips are made.
    const tripId = tripIds[i % tripIds.length]!;
    const turn = Math.floor(i / tripIds.length);
    const options = { owners: [owner('trip', tripId)] };
    const job = { tripId, driverId: String(turn) };
    return turn % 2 === 0
      ? enqueuer.enqueue(offer, job, options)
      : enqueuer.enqueue(timeout, job, { ...options, delay: DUE_IN });
  };
  for (let from = 0; from < count; from += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => enqueue(from + i)));
}
