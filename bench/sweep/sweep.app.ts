import 'reflect-metadata';
import { owner } from '#core';
import { defineKind, Enqueuer, MooringModule, type MooringOptions, type OwnerResolver } from '#nestjs';
import '#nestjs/register';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Redis } from 'ioredis';
import { z } from 'zod';

export const PREFIX = '{bench}';
const payload = z.object({ tripId: z.string(), driverId: z.string() });

/** What a ride asks of a driver. */
export const offer = defineKind({ name: 'offer', queue: 'trip-requests', payload });
/** The job that ends the ride if no driver accepts. */
export const timeout = defineKind({ name: 'timeout', queue: 'trip-timeouts', payload });

@Module({})
class BenchModule {}

/** A plain application that enqueues, and that sweeps if it has the address of the service with the trips. */
export async function startApp(redis: Redis, trips?: OwnerResolver): Promise<INestApplicationContext> {
  // Calls are accepted only once the connection is ready.
  await redis.ping();
  const options: MooringOptions = {
    connection: redis,
    prefix: PREFIX,
    maxWaiting: 10_000_000,
    listeners: [],
    // Every sweep is an observation, however soon it comes.
    ...(trips && { resolvers: new Map([['trip', trips]]), sweeps: { timers: false, ownerGrace: 1 } }),
  };
  return NestFactory.createApplicationContext(
    {
      module: BenchModule,
      imports: [MooringModule.forRoot(options), MooringModule.forKinds([offer, timeout])],
    },
    { logger: ['error', 'warn'] },
  );
}

const AT_ONCE = 1_000;
const DUE_IN = '1h';

/** Gives each trip jobs: half of them wait for a worker, the others are delayed. */
export async function enqueueFor(
  app: INestApplicationContext,
  tripIds: readonly string[],
  each: number,
): Promise<void> {
  const enqueuer = app.get(Enqueuer);
  const count = tripIds.length * each;
  const enqueue = (i: number): Promise<unknown> => {
    // The jobs of a trip are far apart, as in a fleet with many trips.
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
