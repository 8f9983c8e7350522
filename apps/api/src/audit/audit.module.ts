import { Audit } from '#http';
import { Runtime } from '#runtime';
import { Module, type DynamicModule } from '@nestjs/common';
import { AuditLog } from './audit-log.js';

/** Provides `Audit` to every controller, including those of workloads. */
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
