import { fleetParts, logFact } from '#fleet';
import type { JobFacts } from '#nestjs';
import { ConfiguredResolvers } from '#resolvers';
import { logContext, Runtime } from '#runtime';
import { Module, type DynamicModule } from '@nestjs/common';
import { ownVersion } from './own-version.js';
import type { WorkerEnv } from './worker-env.js';

/** Share of the shutdown time for running jobs. The rest is for closing resources. */
const SHARE_FOR_RUNS = 0.8;

/** The consumer: runs jobs. */
@Module({})
export class WorkerModule {
  static async with(runtime: Runtime, env: WorkerEnv): Promise<DynamicModule> {
    const resolvers = new ConfiguredResolvers(env.OWNER_RESOLVERS, (fact) => logFact(runtime.log, fact));
    const worker = {
      concurrency: env.WORKER_CONCURRENCY,
      lockDuration: env.WORKER_LOCK,
      shutdownTimeout: env.SHUTDOWN_TIMEOUT * SHARE_FOR_RUNS,
      around: withIds,
      version: ownVersion(),
      ...(env.WORKER_KINDS && { kinds: env.WORKER_KINDS }),
    };
    const mooring = { resolvers: resolvers.byType, worker };
    const { imports, providers } = await fleetParts('worker', runtime, env, { mooring });
    // As a provider it receives the shutdown hooks of Nest.
    const resolving = { provide: ConfiguredResolvers, useValue: resolvers };
    return { module: WorkerModule, imports, providers: [...providers, resolving] };
  }
}

function withIds<T>(job: JobFacts, run: () => Promise<T>): Promise<T> {
  return logContext.run({ ...job }, run);
}
