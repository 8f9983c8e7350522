import { Module, type CanActivate, type DynamicModule, type Provider, type Type } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { AuditInterceptor } from './access/audit.interceptor.js';
import { LimitsGuard } from './access/limits.guard.js';
import { ArtifactsController } from './artifacts.controller.js';
import { AuditController } from './audit.controller.js';
import { KindsController, WorkersController } from './fleet.controller.js';
import { FlowsController } from './flows.controller.js';
import { HEALTH_SOURCE, HealthController, type HealthSource } from './health.controller.js';
import { JobsController } from './jobs.controller.js';
import { LoadController } from './load.controller.js';
import { MeController } from './me.controller.js';
import { HTTP_GUARD, HTTP_PATH } from './mooring-controller.js';
import { OperationsController } from './operations.controller.js';
import { CancellationsController, OwnerListController, OwnersController } from './owners.controller.js';
import { QueuesController } from './queues.controller.js';
import { SchedulesController } from './schedules.controller.js';
import { SlotsController } from './slots.controller.js';
import { QuarantineController, SweepsController } from './sweeps.controller.js';

export interface MooringHttpOptions {
  /** The routes are under it: `/mooring/v1/jobs`. Default none: `/v1/jobs`. */
  readonly path?: string;
  /**
   * Admits requests. The scope that a route needs is its metadata under `NEEDS`; the name of the caller goes to `request.caller`, and what it
   * is limited to, to `request.limits`. `false` if the application guards all its routes itself.
   */
  readonly guard: Type<CanActivate> | false;
  /** Answers `/livez`, `/readyz` and `/metrics`. Without it there are no such routes. */
  readonly health?: HealthSource;
}

const CONTROLLERS = [
  ArtifactsController,
  AuditController,
  CancellationsController,
  FlowsController,
  JobsController,
  KindsController,
  LoadController,
  MeController,
  OperationsController,
  OwnerListController,
  OwnersController,
  QuarantineController,
  QueuesController,
  SchedulesController,
  SlotsController,
  SweepsController,
  WorkersController,
];

/** The routes of Mooring in any application, on Fastify or Express. It needs `MooringModule.forRoot`. */
@Module({})
export class MooringHttpModule {
  static register({ path = '', guard, health }: MooringHttpOptions): DynamicModule {
    const parts = path.split('/').filter(Boolean);
    const prefix = parts.map((part) => `/${part}`).join('');
    const guarded: Provider = guard
      ? { provide: HTTP_GUARD, useClass: guard }
      : { provide: HTTP_GUARD, useValue: true };
    return {
      module: MooringHttpModule,
      imports: prefix ? [RouterModule.register([{ path: prefix, module: MooringHttpModule }])] : [],
      controllers: [...CONTROLLERS, ...(health ? [HealthController] : [])],
      providers: [
        guarded,
        LimitsGuard,
        AuditInterceptor,
        { provide: HTTP_PATH, useValue: prefix },
        ...(health ? [{ provide: HEALTH_SOURCE, useValue: health }] : []),
      ],
    };
  }
}
