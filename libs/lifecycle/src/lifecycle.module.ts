import { BullModule, getQueueToken } from '@nestjs/bullmq';
import {
  Module,
  type DynamicModule,
  type FactoryProvider,
  type ModuleMetadata,
  type Provider,
} from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { Queue, QueueOptions } from 'bullmq';
import { Canceller } from './cancel/canceller.js';
import { CleanUp } from './cancel/clean-up.js';
import { CleanUps } from './cancel/clean-ups.js';
import { EmptyCancels } from './cancel/empty-cancels.js';
import { FoundJobs } from './cancel/found.jobs.js';
import { JobExits } from './cancel/job.exits.js';
import { JobRemoval } from './cancel/job.removal.js';
import { Receipts } from './cancel/receipts.js';
import { Adds } from './enqueue/adds.js';
import { Admission } from './enqueue/admission.js';
import { DepthCensus } from './enqueue/depth.census.js';
import { Duplicates } from './enqueue/duplicates.js';
import { Enqueuer } from './enqueue/enqueuer.js';
import { ForeignJobs } from './enqueue/foreign.jobs.js';
import { Idempotency } from './enqueue/idempotency.js';
import { NewJobs } from './enqueue/new-jobs.js';
import { Replacements } from './enqueue/replacements.js';
import { Reservations } from './enqueue/reservation.js';
import { Twins } from './enqueue/twins.js';
import { Flows } from './flows/flows.js';
import { Gate } from './gate/gate.js';
import { OwnerCheck } from './gate/owner.check.js';
import { Slots } from './gate/slots.js';
import { SlotLimits } from './slots/slot-limits.js';
import { Removals } from './history/removals.js';
import { Journal } from './journal.js';
import { KindRegistry } from './kinds/kind.registry.js';
import type { Kind } from './kinds/kind.js';
import { News } from './news/news.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from './options.js';
import { queuePrefix, Queues } from './queues.js';
import { ArtifactReader } from './read/artifact.reader.js';
import { QueueCensus } from './read/queue.census.js';
import { QueueReader } from './read/queue.reader.js';
import { JobLog } from './read/job.log.js';
import { JobReader } from './read/job.reader.js';
import { OwnerReader } from './read/owner.reader.js';
import { OwnerLives } from './resolvers/owner.lives.js';
import { Resolvers } from './resolvers/resolvers.js';
import { Consumption } from './run/consumption.js';
import { ForeignPickup } from './run/foreign.pickup.js';
import { HandlerRegistry } from './run/handler.registry.js';
import { JobRunner } from './run/job-runner.js';
import { Leases } from './run/leases.js';
import { LifecycleProcessor } from './run/lifecycle.processor.js';
import { QueueWorkers } from './run/queue-workers.js';
import { RunningJobs } from './run/running-jobs.js';
import { ToldRuns } from './run/told.runs.js';
import { Waker } from './run/waker.js';
import { Moorings } from './schedules/moorings.js';
import { ScheduleBook } from './schedules/schedule.book.js';
import { Schedules } from './schedules/schedules.js';
import { Ticker } from './schedules/ticker.js';
import { Endings } from './settle/endings.js';
import { Settler } from './settle/settler.js';
import { Store } from './store.js';
import { ArtifactSweep } from './sweep/artifact.sweep.js';
import { JobKeepers } from './sweep/job.keepers.js';
import { Quarantine } from './sweep/quarantine.js';
import { Reaps } from './sweep/reaps.js';
import { EndedJobs } from './sweep/ended.jobs.js';
import { RetentionMeasures } from './sweep/retention.measures.js';
import { RetentionSweep } from './sweep/retention.sweep.js';
import { Retirement } from './sweep/retirement.js';
import { ClosedOwners } from './sweep/closed-owners.js';
import { Deadlines } from './sweep/deadlines.js';
import { Doomed } from './sweep/doomed.js';
import { ExpiredJobs } from './sweep/expired.jobs.js';
import { ExpirySweep } from './sweep/expiry.sweep.js';
import { ForeignSurvey } from './sweep/foreign.survey.js';
import { GhostJobs } from './sweep/ghost.jobs.js';
import { Healing } from './sweep/healing.js';
import { KeyWalk } from './sweep/key.walk.js';
import { LeftJobs } from './sweep/left.jobs.js';
import { OrphanSurvey } from './sweep/orphan.survey.js';
import { MisplacedJobs } from './sweep/misplaced-jobs.js';
import { OrphanSweep } from './sweep/orphan.sweep.js';
import { OwnerDirectory } from './sweep/owner.directory.js';
import { OwnerLooks } from './sweep/owner.looks.js';
import { OwnerRepair } from './sweep/owner.repair.js';
import { QueueWalk } from './sweep/queue.walk.js';
import { RepairSweep } from './sweep/repair.sweep.js';
import { ReplacedJobs } from './sweep/replaced.jobs.js';
import { Sightings } from './sweep/sightings.js';
import { SweepBook } from './sweep/sweep.book.js';
import { SweepLocks } from './sweep/sweep.locks.js';
import { SweepWork } from './sweep/sweep.work.js';
import { Sweeper } from './sweep/sweeper.js';
import { Sweeps } from './sweep/sweeps.js';
import { UntoldNews } from './sweep/untold.news.js';
import { Walks } from './sweep/walks.js';

const providers: Provider[] = [
  Adds,
  Admission,
  ArtifactReader,
  ArtifactSweep,
  Canceller,
  CleanUp,
  CleanUps,
  ClosedOwners,
  Consumption,
  Deadlines,
  DepthCensus,
  Doomed,
  Duplicates,
  EmptyCancels,
  EndedJobs,
  Endings,
  Enqueuer,
  ExpiredJobs,
  ExpirySweep,
  Flows,
  ForeignJobs,
  ForeignPickup,
  ForeignSurvey,
  FoundJobs,
  Gate,
  GhostJobs,
  HandlerRegistry,
  Healing,
  Idempotency,
  JobExits,
  JobKeepers,
  JobLog,
  JobReader,
  JobRemoval,
  JobRunner,
  Journal,
  KeyWalk,
  KindRegistry,
  Leases,
  LeftJobs,
  LifecycleProcessor,
  MisplacedJobs,
  Moorings,
  NewJobs,
  News,
  OrphanSurvey,
  OrphanSweep,
  OwnerCheck,
  OwnerDirectory,
  OwnerLives,
  OwnerLooks,
  OwnerReader,
  Quarantine,
  OwnerRepair,
  QueueCensus,
  QueueReader,
  Queues,
  QueueWalk,
  QueueWorkers,
  Reaps,
  Receipts,
  Removals,
  RepairSweep,
  Replacements,
  Reservations,
  Resolvers,
  ReplacedJobs,
  RetentionMeasures,
  RetentionSweep,
  Retirement,
  RunningJobs,
  ScheduleBook,
  Schedules,
  Settler,
  Sightings,
  SlotLimits,
  Slots,
  Store,
  SweepBook,
  Sweeper,
  SweepLocks,
  SweepWork,
  Sweeps,
  Ticker,
  ToldRuns,
  Twins,
  Walks,
  UntoldNews,
  Waker,
];

/** Sets our queues' options apart from those an application gives to queues of its own. */
const CONFIG_KEY = 'mooring';

export interface LifecycleAsyncOptions {
  readonly imports?: NonNullable<ModuleMetadata['imports']>;
  readonly inject?: NonNullable<FactoryProvider['inject']>;
  readonly useFactory: (...injected: never[]) => LifecycleOptions | Promise<LifecycleOptions>;
}

@Module({})
class LifecycleOptionsModule {}

@Module({})
class KindsModule {}

/** The lifecycle in a Nest application: `forRootAsync` once, `forKinds` wherever kinds are known. */
@Module({})
export class LifecycleModule {
  static forRootAsync({ imports = [], inject = [], useFactory }: LifecycleAsyncOptions): DynamicModule {
    const options: DynamicModule = {
      module: LifecycleOptionsModule,
      imports,
      providers: [{ provide: LifecycleOptions, inject, useFactory }],
      exports: [LifecycleOptions],
    };
    const bull = BullModule.forRootAsync(CONFIG_KEY, {
      imports: [options],
      inject: [LifecycleOptions],
      useFactory: queueOptions,
    });
    return {
      module: LifecycleModule,
      global: true,
      imports: [DiscoveryModule, options, bull],
      providers,
      exports: [options, ...providers],
    };
  }

  static forKinds(kinds: readonly Kind[]): DynamicModule {
    const queues = [...new Set(kinds.map((kind) => kind.queue))];
    return {
      module: KindsModule,
      imports: queues.map((name) => BullModule.registerQueue({ name, configKey: CONFIG_KEY })),
      providers: [
        {
          provide: Symbol('mooring:kinds'),
          inject: [KindRegistry, Queues, Journal, ...queues.map((name) => getQueueToken(name))],
          useFactory: (registry: KindRegistry, known: Queues, journal: Journal, ...registered: Queue[]) => {
            registry.add(kinds);
            for (const queue of registered) {
              // Without a listener BullMQ prints the error, with its stack, by itself.
              queue.on('error', (error) => journal.queueError(queue.name, error));
              known.add(queue);
            }
            return kinds;
          },
        },
      ],
    };
  }
}

function queueOptions({ redis, prefix = LIFECYCLE_DEFAULTS.prefix }: LifecycleOptions): QueueOptions {
  return { connection: redis, prefix: queuePrefix(prefix) };
}
