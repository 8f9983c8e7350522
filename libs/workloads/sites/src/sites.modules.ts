import { LifecycleModule } from '#lifecycle';
import { Module, type Provider } from '@nestjs/common';
import { OldBuilds } from './old.builds.js';
import { ShownBuilds } from './shown.builds.js';
import { SiteCare } from './sites.care.js';
import { BuildHandler } from './sites.handlers.js';
import { BuildKeeper } from './sites.keeper.js';
import { build } from './sites.kinds.js';
import { SiteOwners } from './sites.owners.js';
import { SitesRepository } from './sites.repository.js';

/** Who does what others have left undone: every api, and the janitor. */
export const tending: Provider[] = [OldBuilds, ShownBuilds, SiteCare, SiteOwners, SitesRepository];

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
