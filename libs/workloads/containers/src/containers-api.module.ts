import { Module, type DynamicModule } from '@nestjs/common';
import { LeasesModule } from './containers.module.js';
import { LeaseLimits } from './containers-settings.js';
import { LeasesController } from './http/leases.controller.js';
import { Leases } from './leases.service.js';

/** HTTP routes for leases. The api has no engine. */
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
