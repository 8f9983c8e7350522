// A process that sweeps what it is told to, one sort after the other, says how many commands that took, and ends.
import 'reflect-metadata';
import { StreamPublisher } from '#events';
import { defineKind, LifecycleModule, owner, Sweeper } from '#lifecycle';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { z } from 'zod';

class AppModule {}

const ownersOf = ({ data }) => [owner('site', data.site)];
const work = defineKind({ name: 'work', queue: 'work', payload: z.any(), ownersOf });

const { REDIS_URL, MOORING_PREFIX, SWEEP_LOCK_MS, EVENTS_OUT: tell } = process.env;
const redis = new Redis(REDIS_URL, { maxRetriesPerRequest: null });
// Only what is asked once the connection stands is accepted.
await redis.ping();
const teller = tell && new StreamPublisher({ redis, prefix: MOORING_PREFIX, publish: tell, keep: 1_000 });
const options = { redis, prefix: MOORING_PREFIX, sweeps: { lockMs: Number(SWEEP_LOCK_MS) }, teller };
const imports = [
  LifecycleModule.forRootAsync({ useFactory: () => options }),
  LifecycleModule.forKinds([work]),
];
const context = await NestFactory.createApplicationContext({ module: AppModule, imports }, { logger: false });

process.once('message', ({ kinds }) => void sweep(kinds));
process.send({ type: 'started' });

async function sweep(kinds) {
  for (const kind of kinds) await context.get(Sweeper).sweep(kind);
  process.send({ type: 'swept', commands: globalThis.commandsSent });
  await context.close();
  await teller?.onApplicationShutdown();
  redis.disconnect();
  process.disconnect();
}
