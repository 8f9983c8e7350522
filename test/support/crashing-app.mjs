// A process that runs the call it is sent, a cancel, sweeps, operations or the relay of the outbox, reports the number of commands,
// and exits; see crashing-process.ts.
import 'reflect-metadata';
import { openArtifacts } from '#artifacts';
import { Owners } from '#core';
import { StreamPublisher } from '#events';
import { defineKind, MooringModule, OperationWorker, Outbox, OwnerResolver, Sweeper } from '#nestjs';
import '#nestjs/register';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { z } from 'zod';

class AppModule {}

/** Every bus is gone. */
class Buses extends OwnerResolver {
  async resolve(ids) {
    return new Map(ids.map((id) => [id, 'gone']));
  }
}

const { REDIS_URL, MOORING_PREFIX, EVENTS_OUT: publish, ARTIFACTS_URL } = process.env;
const redis = new Redis(REDIS_URL, { maxRetriesPerRequest: null });
const publisher = publish && new StreamPublisher({ redis, prefix: MOORING_PREFIX, publish, keep: 1_000 });
const artifacts = ARTIFACTS_URL && openArtifacts(ARTIFACTS_URL, redis, MOORING_PREFIX);
const options = {
  connection: redis,
  prefix: MOORING_PREFIX,
  resolvers: new Map([['bus', new Buses()]]),
  sweeps: { timers: false, lock: 1_000, ownerGrace: 1, artifactGrace: 1 },
  ...(publisher && { publisher }),
  ...(artifacts && { artifacts }),
};
const payload = z.any();
const kinds = [
  defineKind({ name: 'work', queue: 'work', payload }),
  defineKind({ name: 'kept', queue: 'kept', payload, keep: { age: '1h', count: 1 }, artifacts: true }),
];
const imports = [MooringModule.forRoot(options), MooringModule.forKinds(kinds)];
const context = await NestFactory.createApplicationContext({ module: AppModule, imports }, { logger: false });
// Connections and scripts are ready before the count starts.
await context.get(Owners).openReceipts();

process.once('message', (order) => void obey(order));
process.send({ type: 'started' });

async function obey({ cancel, sweep = [], operate, relay }) {
  const receipt = cancel && (await context.get(Owners).cancel(cancel.owner, cancel.options));
  for (const kind of sweep) await context.get(Sweeper).sweep(kind);
  if (operate) await context.get(OperationWorker).work();
  if (relay) await context.get(Outbox).relay();
  process.send({ type: 'done', receipt, commands: globalThis.commandsSent });
  await context.close();
  await publisher?.onApplicationShutdown();
  redis.disconnect();
  process.disconnect();
}
