// A process that does one sweep of retention when it is told to, says what came of it, and ends.
import 'reflect-metadata';
import { openArtifacts } from '#artifacts';
import { defineKind, LifecycleModule, Sweeper } from '#lifecycle';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { z } from 'zod';

class AppModule {}

const { REDIS_URL, MOORING_PREFIX, ARTIFACTS_URL, REAP_HOLD_MS } = process.env;
const redis = new Redis(REDIS_URL, { maxRetriesPerRequest: null });
await redis.ping();
const kept = defineKind({
  name: 'kept',
  queue: 'kept',
  payload: z.object({}),
  keep: { age: '1h', count: 1 },
});
const options = {
  redis,
  prefix: MOORING_PREFIX,
  artifacts: openArtifacts(ARTIFACTS_URL, redis, MOORING_PREFIX),
  sweeps: { reapHoldMs: Number(REAP_HOLD_MS), lockMs: 300 },
};
const imports = [
  LifecycleModule.forRootAsync({ useFactory: () => options }),
  LifecycleModule.forKinds([kept]),
];
const context = await NestFactory.createApplicationContext({ module: AppModule, imports }, { logger: false });

process.once('message', () => void sweep());
process.send({ type: 'started' });

async function sweep() {
  const record = await context.get(Sweeper).sweep('retention');
  process.send({ type: 'swept', record, commands: globalThis.commandsSent });
  await context.close();
  redis.disconnect();
  process.disconnect();
}
