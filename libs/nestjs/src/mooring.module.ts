import { Owners, Slots } from '#core';
import { Global, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AuditLog } from './audit/audit-log.js';
import { JobCanceller } from './cancel/job-canceller.js';
import {
  MOORING_OPTIONS,
  type ForQueueOptions,
  type MooringAsyncOptions,
  type MooringOptions,
} from './options.js';
import { Outbox } from './events/outbox.js';
import { Journal } from './journal/journal.js';
import { JournaledOwners } from './journal/journaled-owners.js';
import { KindsModule } from './kinds.module.js';
import type { Kind } from './kinds/kind.js';
import { ApplicationQueues, QueueSettings } from './queues/application-queues.js';
import { FlowTrees } from './find/flow-trees.js';
import { JobContents } from './find/job-contents.js';
import { JobFinder } from './find/job-finder.js';
import { JobSources } from './find/job-sources.js';
import { KnownNames } from './find/known-names.js';
import { KindList } from './find/kind-list.js';
import { OwnerFinder } from './find/owner-finder.js';
import { WorkerList } from './find/worker-list.js';
import { MooringStore } from './store/mooring-store.js';
import { ArtifactReader } from './read/artifact-reader.js';
import { JobReader } from './read/job-reader.js';
import { OwnerReader } from './read/owner-reader.js';
import { LoadReader } from './read/load-reader.js';
import { QueueReader } from './read/queue-reader.js';
import { JobMover } from './repair/job-mover.js';
import { JobRetrier } from './repair/job-retrier.js';
import { OPERATION_EXPORTS, OPERATION_PROVIDERS } from './operations/operation-providers.js';
import { StoreAccess } from './store/store-access.js';
import { SWEEP_EXPORTS, SWEEP_PROVIDERS } from './sweeps/sweep-providers.js';

const READERS = [
  ArtifactReader,
  JobCanceller,
  JobMover,
  JobReader,
  JobRetrier,
  LoadReader,
  OwnerReader,
  QueueReader,
];
const LISTS = [FlowTrees, JobContents, JobFinder, KindList, OwnerFinder, WorkerList];

const ROOT_PROVIDERS: Provider[] = [
  {
    provide: Owners,
    useFactory: (options: MooringOptions, journal: Journal) =>
      new JournaledOwners({ ...options, outbox: options.publisher !== undefined }, journal),
    inject: [MOORING_OPTIONS, Journal],
  },
  {
    provide: Slots,
    useFactory: ({ connection, prefix }: MooringOptions) =>
      new Slots({ connection, ...(prefix !== undefined && { prefix }) }),
    inject: [MOORING_OPTIONS],
  },
  Journal,
  MooringStore,
  Outbox,
  StoreAccess,
  JobSources,
  AuditLog,
  KnownNames,
  ...READERS,
  ...LISTS,
  ...SWEEP_PROVIDERS,
  ...OPERATION_PROVIDERS,
];

/** Once in an application, whatever imports it. Global, because Nest initializes global modules before those of the application. */
@Global()
@Module({ imports: [DiscoveryModule], providers: [ApplicationQueues], exports: [ApplicationQueues] })
class ApplicationQueuesModule {}

/** Owners for the BullMQ queues of an application, which registers them and their processors with `@nestjs/bullmq` as before. */
@Module({})
export class MooringModule {
  /** Provides `Owners` and `Slots` everywhere in the application. */
  static forRoot(options: MooringOptions): DynamicModule {
    return rootModule({ provide: MOORING_OPTIONS, useValue: options });
  }

  static forRootAsync({ imports = [], inject = [], useFactory }: MooringAsyncOptions): DynamicModule {
    return rootModule({ provide: MOORING_OPTIONS, inject, useFactory }, imports);
  }

  /** Options for the queue and the workers of this name. */
  static forQueue(name: string, options: ForQueueOptions = {}): DynamicModule {
    return {
      module: MooringModule,
      imports: [ApplicationQueuesModule],
      providers: [{ provide: Symbol(`forQueue ${name}`), useValue: new QueueSettings(name, options) }],
    };
  }

  /** Kinds that this process enqueues or runs, and their queues: `@InjectQueue` and `@Processor` find them without `registerQueue`. */
  static forKinds(kinds: readonly Kind[]): DynamicModule {
    return KindsModule.forKinds(kinds);
  }
}

function rootModule(options: Provider, imports: NonNullable<DynamicModule['imports']> = []): DynamicModule {
  return {
    module: MooringModule,
    global: true,
    imports: [...imports, DiscoveryModule, ApplicationQueuesModule, KindsModule.forRoot()],
    providers: [options, ...ROOT_PROVIDERS],
    exports: [
      MOORING_OPTIONS,
      Owners,
      Slots,
      AuditLog,
      Journal,
      MooringStore,
      Outbox,
      KindsModule,
      ...READERS,
      ...LISTS,
      ...SWEEP_EXPORTS,
      ...OPERATION_EXPORTS,
    ],
  };
}
