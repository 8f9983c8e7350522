import { Module, type DynamicModule } from '@nestjs/common';
import { LeasesModule } from './containers.modules.js';
import { LeaseLimits } from './containers.settings.js';
import { LeasesController } from './http/leases.controller.js';
import { Leases } from './leases.service.js';

/** Where leases are asked for. It has no engine. */
@Module({})
export class ContainersApiModule {
  static with(limits: LeaseLimits): DynamicModule {
    return {
      module: ContainersApiModule,
      imports: [LeasesModule],
      controllers: [LeasesController],
      providers: [Leases, { provide: LeaseLimits, useValue: limits }],
    };
  }
}
