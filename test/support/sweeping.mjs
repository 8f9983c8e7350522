// A process that does one sweep when it is told which, says what came of it, and ends.
import 'reflect-metadata';
import { openArtifacts } from '#artifacts';
import { defineKind, LifecycleModule, Sweeper } from '#lifecycle';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { z } from 'zod';

class AppModule {}

const { REDIS_URL, MOORING_PREFIX, ARTIFACTS_URL, REAP_HOLD_MS, ARTIFACT_GRACE_MS } = process.env;
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
  sweeps: { reapHoldMs: Number(REAP_HOLD_MS), artifactGraceMs: Number(ARTIFACT_GRACE_MS), lockMs: 300 },
};
const imports = [
  LifecycleModule.forRootAsync({ useFactory: () => options }),
  LifecycleModule.forKinds([kept]),
];
const context = await NestFactory.createApplicationContext({ module: AppModule, imports }, { logger: false });

process.once('message', ({ kind }) => void sweep(kind));
process.send({ type: 'started' });

async function sweep(kind) {
  const record = await context.get(Sweeper).sweep(kind);
  process.send({ type: 'swept', record, commands: globalThis.commandsSent });
  await context.close();
  redis.disconnect();
  process.disconnect();
}
