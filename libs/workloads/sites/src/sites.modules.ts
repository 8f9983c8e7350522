import { LifecycleModule } from '#lifecycle';
import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { BuildReader } from './build.reader.js';
import { DemoController } from './demo/demo.controller.js';
import { ServedController } from './http/served.controller.js';
import { SitesController } from './http/sites.controller.js';
import { OldBuilds } from './old.builds.js';
import { ServedSites } from './served.sites.js';
import { ShownBuilds } from './shown.builds.js';
import { SiteCare } from './sites.care.js';
import { BuildHandler } from './sites.handlers.js';
import { BuildKeeper } from './sites.keeper.js';
import { build } from './sites.kinds.js';
import { SiteOwners } from './sites.owners.js';
import { SitesRelay } from './sites.relay.js';
import { SitesRepository } from './sites.repository.js';
import { SitesService } from './sites.service.js';

const tending: Provider[] = [OldBuilds, ShownBuilds, SiteCare, SiteOwners, SitesRepository];

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

/** Where they are built. */
@Module({
  imports: [LifecycleModule.forKinds([build])],
  providers: [BuildHandler, SiteOwners, SitesRepository],
})
export class SitesWorkerModule {}

/** Where what others have left undone is done, and which builds are kept is known. */
@Module({
  imports: [LifecycleModule.forKinds([build])],
  providers: [...tending, BuildKeeper],
  exports: [SiteCare],
})
export class SitesJanitorModule {}
