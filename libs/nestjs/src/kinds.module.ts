import { BullModule, getQueueToken } from '@nestjs/bullmq';
import { Global, Module, type DynamicModule } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { CommittedArtifacts } from './artifacts/committed-artifacts.js';
import { Enqueuer } from './enqueue/enqueuer.js';
import { JobRequests } from './enqueue/job-requests.js';
import { QueueRegistry } from './enqueue/queue-registry.js';
import { Flows } from './flows/flows.js';
import { JobRetention } from './kinds/job-retention.js';
import { KindRegistry } from './kinds/kind-registry.js';
import { rememberLimits } from './kinds/limits.js';
import type { Kind } from './kinds/kind.js';
import { JobHistory } from './history/job-history.js';
import { JobLog } from './history/job-log.js';
import { Consumption } from './run/consumption.js';
import { Heartbeats } from './run/heartbeats.js';
import { Pulse } from './run/pulse.js';
import { HandlerDiscovery } from './run/handler-discovery.js';
import { HandlerRegistry } from './run/handler-registry.js';
import { KindRunner } from './run/kind-runner.js';
import { QueueWorkers } from './run/queue-workers.js';
import { RunPreparation } from './run/run-preparation.js';
import { RunningJobs } from './run/running-jobs.js';
import { Snoozer } from './run/snoozer.js';
import { Waker } from './run/waker.js';
import { WorkerFacts } from './run/worker-facts.js';
import { Schedules } from './schedules/schedules.js';

const ENQUEUE = [
  KindRegistry,
  JobRetention,
  QueueRegistry,
  JobRequests,
  Enqueuer,
  Flows,
  Schedules,
  CommittedArtifacts,
];

const RUN = [
  JobLog,
  JobHistory,
  RunningJobs,
  Heartbeats,
  Pulse,
  Waker,
  WorkerFacts,
  RunPreparation,
  Snoozer,
  KindRunner,
  QueueWorkers,
  Consumption,
];

/** Kinds, their queues and their handlers. `MooringModule` imports it. */
@Global()
@Module({})
export class KindsModule {
  static forRoot(): DynamicModule {
    return {
      module: KindsModule,
      imports: [DiscoveryModule],
      providers: [...ENQUEUE, HandlerRegistry, HandlerDiscovery, ...RUN],
      exports: [...ENQUEUE, ...RUN],
    };
  }

  /** The kinds become known, and the tokens of their queues resolve: `@InjectQueue('media')`. */
  static forKinds(kinds: readonly Kind[]): DynamicModule {
    rememberLimits(kinds);
    const queues = [...new Set(kinds.map(({ queue }) => queue))].map((name) => ({
      provide: getQueueToken(name),
      useFactory: (registry: QueueRegistry) => registry.get(name),
      inject: [QueueRegistry],
    }));
    const known = {
      provide: Symbol('mooring:kinds'),
      useFactory: (registry: KindRegistry) => registry.add(kinds),
      inject: [KindRegistry],
    };
    // Without a queue of its own it registers none, and brings what finds the processors.
    return {
      module: KindsModule,
      imports: [BullModule.registerQueue()],
      providers: [known, ...queues],
      exports: queues,
    };
  }
}
