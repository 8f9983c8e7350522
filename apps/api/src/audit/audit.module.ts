import { Audit } from '#http';
import { Runtime } from '#runtime';
import { Module, type DynamicModule } from '@nestjs/common';
import { AuditLog } from './audit-log.js';

/** The audit for every controller of the api, those of workloads included. */
@Module({})
export class AuditModule {
  static with(runtime: Runtime): DynamicModule {
    return {
      module: AuditModule,
      global: true,
      providers: [
        { provide: Runtime, useValue: runtime },
        { provide: Audit, useClass: AuditLog },
      ],
      exports: [Audit],
    };
  }
}
