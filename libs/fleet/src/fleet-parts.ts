import { ArtifactsEnv, openArtifacts } from '#artifacts';
import { StreamPublisher } from '#events';
import '#nestjs/register';
import { MooringModule, type FactListener, type MooringOptions } from '#nestjs';
import { fields, type CountedFact, type Runtime } from '#runtime';
import { WorkloadStoreModule, type Process } from '#workload-kit';
import type { ModuleMetadata } from '@nestjs/common';
import type { z } from 'zod';
import { workloadLimits, workloadModules, type ApiConditions } from './fleet-workloads.js';
import { logFact } from './log-fact.js';

/** What api, workers and janitors all read from their environment. */
export const FleetEnv = {
  MAX_WAITING: fields
    .wholeNumber(1)
    .prefault('100000')
    .describe('How many jobs may wait in a queue; more are refused. The same for all processes.'),
  ...fields.EventsOutEnv,
  ...fields.RetentionEnv,
  ...fields.CancelEnv,
  ...ArtifactsEnv,
  ...fields.StoreEnv,
  ...fields.ShutdownEnv,
  ...fields.LogEnv,
};
export type FleetEnv = z.output<z.ZodObject<typeof FleetEnv>>;

export interface FleetMore {
  readonly api?: ApiConditions;
  /** Options of `MooringModule` that only this process has. */
  readonly mooring?: Pick<MooringOptions, 'audit' | 'resolvers' | 'sweeps' | 'worker'>;
  /** Hears every fact too, besides the log and the metrics. */
  readonly listener?: FactListener;
}

/** `MooringModule` and the workloads of a process, as parts of its module. */
export async function fleetParts(
  process: Process,
  runtime: Runtime,
  env: FleetEnv,
  { api, mooring, listener }: FleetMore = {},
): Promise<Required<Pick<ModuleMetadata, 'imports' | 'providers'>>> {
  const publisher = publisherOf(runtime, env);
  const { redis } = runtime;
  const options: MooringOptions = {
    connection: redis,
    // A hash tag: on a Cluster all queues are in one slot.
    prefix: `{${env.MOORING_PREFIX}}`,
    retention: { age: env.RETENTION_AGE, count: env.RETENTION_COUNT },
    receiptKeep: env.RECEIPT_KEEP,
    maxClosed: env.MAX_CLOSED,
    artifacts: openArtifacts(env.ARTIFACTS_URL, redis, env.MOORING_PREFIX, env),
    maxWaiting: env.MAX_WAITING,
    maxWaitingIn: workloadLimits(env),
    listeners: [...listenersOf(runtime), ...(listener ? [listener] : [])],
    publisher,
    ...(runtime.durability && { durability: runtime.durability }),
    ...mooring,
  };
  return {
    imports: [
      MooringModule.forRoot(options),
      WorkloadStoreModule.forRoot(redis, env.MOORING_PREFIX),
      ...(await workloadModules(process, env, api)),
    ],
    // As a provider it receives the shutdown hooks of Nest.
    providers: [{ provide: StreamPublisher, useValue: publisher }],
  };
}

/** The metrics and the log of a process. */
export function listenersOf({ metrics, log }: Runtime): ((fact: CountedFact) => void)[] {
  return [metrics.record, (fact) => logFact(log, fact)];
}

function publisherOf(runtime: Runtime, env: FleetEnv): StreamPublisher {
  return new StreamPublisher({
    redis: runtime.redis,
    prefix: env.MOORING_PREFIX,
    publish: env.EVENTS_OUT,
    keep: env.EVENTS_OUT_KEEP,
    listeners: listenersOf(runtime),
  });
}
