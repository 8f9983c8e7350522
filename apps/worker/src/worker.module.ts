import { openArtifacts } from '#artifacts';
import { StreamPublisher } from '#events';
import { workloadLimits, workloadModules } from '#fleet';
import { LifecycleModule, type JobFacts } from '#lifecycle';
import { ConfiguredResolvers } from '#resolvers';
import { logContext, logFact, Runtime } from '#runtime';
import { Module, type DynamicModule } from '@nestjs/common';
import type { WorkerEnv } from './worker-env.js';

/** Share of the shutdown time for running jobs. The rest is for closing resources. */
const SHARE_FOR_RUNS = 0.8;

/** The consumer: runs jobs. */
@Module({})
export class WorkerModule {
  static with(runtime: Runtime, env: WorkerEnv): DynamicModule {
    const publisher = new StreamPublisher({
      redis: runtime.redis,
      prefix: env.MOORING_PREFIX,
      publish: env.EVENTS_OUT,
      keep: env.EVENTS_OUT_KEEP,
      listeners: [runtime.metrics.record, (fact) => logFact(runtime.log, fact)],
    });
    const resolvers = new ConfiguredResolvers(env.OWNER_RESOLVERS, (fact) => logFact(runtime.log, fact));
    return {
      module: WorkerModule,
      imports: [
        LifecycleModule.forRootAsync({
          useFactory: () => ({
            redis: runtime.redis,
            prefix: env.MOORING_PREFIX,
            resolvers: resolvers.byType,
            retention: { ageMs: env.RETENTION_AGE, count: env.RETENTION_COUNT },
            receiptKeepMs: env.RECEIPT_KEEP,
            maxClosed: env.MAX_CLOSED,
            artifacts: openArtifacts(env.ARTIFACTS_URL, runtime.redis, env.MOORING_PREFIX, env),
            maxWaiting: env.MAX_WAITING,
            maxWaitingIn: workloadLimits(env),
            listeners: [runtime.metrics.record, (fact) => logFact(runtime.log, fact)],
            teller: publisher,
            ...(runtime.durability && { durability: runtime.durability }),
            worker: {
              concurrency: env.WORKER_CONCURRENCY,
              lockMs: env.WORKER_LOCK,
              drainMs: env.SHUTDOWN_TIMEOUT * SHARE_FOR_RUNS,
              around: withIds,
              ...(env.WORKER_KINDS && { kinds: env.WORKER_KINDS }),
            },
          }),
        }),
        ...workloadModules('worker', env),
      ],
      // As providers they receive the shutdown hooks of Nest.
      providers: [
        { provide: StreamPublisher, useValue: publisher },
        { provide: ConfiguredResolvers, useValue: resolvers },
      ],
    };
  }
}

function withIds<T>({ jobId, queue, kind, owner }: JobFacts, run: () => Promise<T>): Promise<T> {
  return logContext.run({ jobId, queue, kind, owner }, run);
}
