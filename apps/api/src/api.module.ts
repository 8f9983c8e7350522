import { EventMapping, EventsModule } from '#events';
import { fleetParts, listenersOf } from '#fleet';
import { Runtime } from '#runtime';
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
  static async with(runtime: Runtime, env: ApiEnv): Promise<DynamicModule> {
    const conditions = { isTrial: isForTrying(env), hasDemos: offersDemo(env) };
    const { imports, providers } = await fleetParts('api', runtime, env, { api: conditions });
    return {
      module: ApiModule,
      imports: [
        AuditModule.with(runtime),
        ...imports,
        EventsModule.forRootAsync({
          useFactory: () => ({
            mapping: env.EVENT_MAP ?? new EventMapping([]),
            listeners: listenersOf(runtime),
          }),
        }),
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
        ...providers,
        ApiDocument,
        BatchSemaphore,
        { provide: Runtime, useValue: runtime },
        { provide: ApiKeys, useValue: { known: env.API_KEYS } },
        { provide: EventSecrets, useValue: { known: env.EVENT_SECRETS ?? [] } },
        { provide: APP_GUARD, useClass: ApiKeyGuard },
        { provide: APP_FILTER, useClass: ErrorFilter },
        { provide: APP_PIPE, useClass: StandardSchemaValidationPipe },
      ],
    };
  }
}
