import { openArtifacts } from '#artifacts';
import { EventMapping, EventsModule, StreamPublisher } from '#events';
import { workloadLimits, workloadModules } from '#fleet';
import { LifecycleModule } from '#lifecycle';
import { logFact, Runtime } from '#runtime';
import { Module, StandardSchemaValidationPipe, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { QuarantineController } from './admin/quarantine.controller.js';
import { QueuesController } from './admin/queues.controller.js';
import { SlotsController } from './admin/slots.controller.js';
import { SweepsController } from './admin/sweeps.controller.js';
import { isForTrying, offersDemo, type ApiEnv } from './api-env.js';
import { AuditModule } from './audit/audit.module.js';
import { ApiKeyGuard, ApiKeys } from './auth/api-key.guard.js';
import { CancellationsController } from './cancellations/cancellations.controller.js';
import { ApiDocument } from './docs/api-document.js';
import { DocsController } from './docs/docs.controller.js';
import { ErrorFilter } from './error.filter.js';
import { EventsController, SignedEventsController } from './events/events.controller.js';
import { EventSecrets } from './events/signature.guard.js';
import { FlowsController } from './flows/flows.controller.js';
import { HealthController } from './health/health.controller.js';
import { ArtifactsController } from './jobs/artifacts.controller.js';
import { BatchSemaphore } from './jobs/batch-semaphore.js';
import { JobsController } from './jobs/jobs.controller.js';
import { OwnersController } from './owners/owners.controller.js';
import { SchedulesController } from './schedules/schedules.controller.js';

/** The producer: turns HTTP requests into jobs. */
@Module({})
export class ApiModule {
  static with(runtime: Runtime, env: ApiEnv): DynamicModule {
    const publisher = new StreamPublisher({
      redis: runtime.redis,
      prefix: env.MOORING_PREFIX,
      publish: env.EVENTS_OUT,
      keep: env.EVENTS_OUT_KEEP,
      listeners: [runtime.metrics.record, (fact) => logFact(runtime.log, fact)],
    });
    return {
      module: ApiModule,
      imports: [
        AuditModule.with(runtime),
        LifecycleModule.forRootAsync({
          useFactory: () => ({
            redis: runtime.redis,
            prefix: env.MOORING_PREFIX,
            retention: { ageMs: env.RETENTION_AGE, count: env.RETENTION_COUNT },
            receiptKeepMs: env.RECEIPT_KEEP,
            maxClosed: env.MAX_CLOSED,
            artifacts: openArtifacts(env.ARTIFACTS_URL, runtime.redis, env.MOORING_PREFIX, env),
            maxWaiting: env.MAX_WAITING,
            maxWaitingIn: workloadLimits(env),
            listeners: [runtime.metrics.record, (fact) => logFact(runtime.log, fact)],
            teller: publisher,
            ...(runtime.durability && { durability: runtime.durability }),
          }),
        }),
        EventsModule.forRootAsync({
          useFactory: () => ({
            mapping: env.EVENT_MAP ?? new EventMapping([]),
            listeners: [runtime.metrics.record, (fact) => logFact(runtime.log, fact)],
          }),
        }),
        ...workloadModules('api', env, { isTrial: isForTrying(env), hasDemos: offersDemo(env) }),
      ],
      controllers: [
        ArtifactsController,
        CancellationsController,
        DocsController,
        FlowsController,
        HealthController,
        JobsController,
        OwnersController,
        QuarantineController,
        QueuesController,
        SchedulesController,
        SlotsController,
        SweepsController,
        env.EVENT_SECRETS ? SignedEventsController : EventsController,
      ],
      providers: [
        ApiDocument,
        BatchSemaphore,
        { provide: Runtime, useValue: runtime },
        // As a provider it receives the shutdown hooks of Nest.
        { provide: StreamPublisher, useValue: publisher },
        { provide: ApiKeys, useValue: { known: env.API_KEYS } },
        { provide: EventSecrets, useValue: { known: env.EVENT_SECRETS ?? [] } },
        { provide: APP_GUARD, useClass: ApiKeyGuard },
        { provide: APP_FILTER, useClass: ErrorFilter },
        { provide: APP_PIPE, useClass: StandardSchemaValidationPipe },
      ],
    };
  }
}
