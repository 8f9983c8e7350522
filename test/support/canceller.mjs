// A process that has the library and knows no kind: cancels the owner that it is sent, says what came of it, and ends.
import 'reflect-metadata';
import { StreamPublisher } from '#events';
import { Canceller, LifecycleModule, parseOwner } from '#lifecycle';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';

class AppModule {}

const { REDIS_URL, MOORING_PREFIX, CLEAN_UP_EVERY_MS, EVENTS_OUT: tell } = process.env;
const redis = new Redis(REDIS_URL, { maxRetriesPerRequest: null });
// Only what is asked once the connection stands is accepted.
await redis.ping();
const teller = tell && new StreamPublisher({ redis, prefix: MOORING_PREFIX, publish: tell, keep: 1_000 });
const options = { redis, prefix: MOORING_PREFIX, cleanUpEveryMs: Number(CLEAN_UP_EVERY_MS), teller };
const context = await NestFactory.createApplicationContext(
  { module: AppModule, imports: [LifecycleModule.forRootAsync({ useFactory: () => options })] },
  { logger: false },
);

process.once('message', (order) => void cancel(order));
process.send({ type: 'started' });

async function cancel({ owner, ...how }) {
  const receipt = await context.get(Canceller).cancel(parseOwner(owner), how);
  process.send({ type: 'receipt', receipt, commands: globalThis.commandsSent });
  await context.close();
  await teller?.onApplicationShutdown();
  redis.disconnect();
  process.disconnect();
}
