import { ConsoleModule } from '#console';
import { EventMapping, EventsModule, OutboundEventStream } from '#events';
import { fleetParts, listenersOf } from '#fleet';
import { AuditInterceptor, LimitsGuard, MooringHttpModule, ProblemFilter } from '#http';
import { RateLimits, type Runtime } from '#runtime';
import { Module, StandardSchemaValidationPipe, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { isForTrying, keysOf, offersDemo, type ApiEnv } from './api-env.js';
import { ApiKeyGuard, ApiKeys } from './auth/api-key.guard.js';
import { KeyNames } from './auth/key-names.js';
import { RateGuard } from './auth/rate.guard.js';
import { ApiDocument } from './docs/api-document.js';
import { DocsController } from './docs/docs.controller.js';
import { EventsController, SignedEventsController } from './events/events.controller.js';
import { EventSecrets } from './events/signature.guard.js';
import { LiveStreams } from './stream/live-streams.js';
import { QueueCounts } from './stream/queue-changes.js';
import { StreamController } from './stream/stream.controller.js';

/** The producer: turns HTTP requests into jobs. */
@Module({})
export class ApiModule {
  static async with(runtime: Runtime, env: ApiEnv): Promise<DynamicModule> {
    const conditions = { isTrial: isForTrying(env), hasDemos: offersDemo(env) };
    const mooring = { audit: { age: env.AUDIT_AGE, count: env.AUDIT_COUNT } };
    const { imports, providers } = await fleetParts('api', runtime, env, { api: conditions, mooring });
    return {
      module: ApiModule,
      imports: [
        ApiModule.routes(runtime),
        ...(env.CONSOLE === 'on' ? [ConsoleModule.register({ start: true })] : []),
        ...imports,
        EventsModule.forRootAsync({
          useFactory: () => ({
            mapping: env.EVENT_MAP ?? new EventMapping([]),
            listeners: listenersOf(runtime),
          }),
        }),
      ],
      controllers: [
        DocsController,
        env.EVENT_SECRETS ? SignedEventsController : EventsController,
        StreamController,
      ],
      providers: [
        ...providers,
        ApiDocument,
        LiveStreams,
        QueueCounts,
        {
          provide: OutboundEventStream,
          useFactory: () => new OutboundEventStream(runtime.redis, env.MOORING_PREFIX),
        },
        { provide: ApiKeys, useValue: { known: keysOf(env) } },
        { provide: RateLimits, useValue: new RateLimits(runtime.redis, env.MOORING_PREFIX) },
        KeyNames,
        { provide: EventSecrets, useValue: { known: env.EVENT_SECRETS ?? [] } },
        { provide: APP_GUARD, useClass: ApiKeyGuard },
        { provide: APP_GUARD, useClass: RateGuard },
        { provide: APP_GUARD, useClass: LimitsGuard },
        { provide: APP_INTERCEPTOR, useClass: AuditInterceptor },
        { provide: APP_FILTER, useClass: ProblemFilter },
        { provide: APP_PIPE, useClass: StandardSchemaValidationPipe },
      ],
    };
  }

  /** Of jobs, owners and everything else that every application of the library has. `APP_GUARD` guards them too. */
  private static routes({ health, metrics }: Runtime): DynamicModule {
    const source = { alive: () => health.alive(), ready: () => health.ready(), metrics };
    return MooringHttpModule.register({ guard: false, health: source });
  }
}
