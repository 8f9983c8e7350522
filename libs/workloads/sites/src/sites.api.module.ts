import { LifecycleModule } from '#lifecycle';
import { Module, type DynamicModule } from '@nestjs/common';
import { BuildReader } from './build.reader.js';
import { DemoController } from './demo/demo.controller.js';
import { ServedController } from './http/served.controller.js';
import { SitesController } from './http/sites.controller.js';
import { ServedSites } from './served.sites.js';
import { build } from './sites.kinds.js';
import { tending } from './sites.modules.js';
import { SitesRelay } from './sites.relay.js';
import { SitesService } from './sites.service.js';

/** Where sites are changed and read. */
@Module({})
export class SitesApiModule {
  static with({ demo }: { readonly demo: boolean }): DynamicModule {
    return {
      module: SitesApiModule,
      imports: [LifecycleModule.forKinds([build])],
      controllers: [SitesController, ServedController, ...(demo ? [DemoController] : [])],
      providers: [...tending, BuildReader, ServedSites, SitesRelay, SitesService],
    };
  }
}
