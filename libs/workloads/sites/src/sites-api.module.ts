import { LifecycleModule } from '#lifecycle';
import { Module, type DynamicModule } from '@nestjs/common';
import { BuildReader } from './build-reader.js';
import { DemoController } from './demo/demo.controller.js';
import { ServedController } from './http/served.controller.js';
import { SitesController } from './http/sites.controller.js';
import { ServedSites } from './served-sites.js';
import { build } from './site-kinds.js';
import { reconcilers } from './sites.module.js';
import { SiteReconcileLoop } from './site-reconcile-loop.js';
import { SitesService } from './sites.service.js';

/** HTTP routes for sites and for their pages. */
@Module({})
export class SitesApiModule {
  static with({ demo }: { readonly demo: boolean }): DynamicModule {
    return {
      module: SitesApiModule,
      imports: [LifecycleModule.forKinds([build])],
      controllers: [SitesController, ServedController, ...(demo ? [DemoController] : [])],
      providers: [...reconcilers, BuildReader, ServedSites, SiteReconcileLoop, SitesService],
    };
  }
}
