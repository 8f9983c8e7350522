import { LifecycleModule } from '#lifecycle';
import { Module, type Provider } from '@nestjs/common';
import { OldBuildRemover } from './old-build-remover.js';
import { BuildPublisher } from './build-publisher.js';
import { SiteReconciler } from './site-reconciler.js';
import { BuildHandler } from './sites.handler.js';
import { BuildKeeper } from './build-keeper.js';
import { build } from './site-kinds.js';
import { SiteOwnerResolver } from './site-owner.resolver.js';
import { SiteRepository } from './site-repository.js';

/** Providers of the processes that reconcile: every api and the janitor. */
export const reconcilers: Provider[] = [
  OldBuildRemover,
  BuildPublisher,
  SiteReconciler,
  SiteOwnerResolver,
  SiteRepository,
];

/** Workers: build sites. */
@Module({
  imports: [LifecycleModule.forKinds([build])],
  providers: [BuildHandler, SiteOwnerResolver, SiteRepository],
})
export class SitesWorkerModule {}

/** Janitors: reconcile sites, resolve their owners, and keep their builds from retention. */
@Module({
  imports: [LifecycleModule.forKinds([build])],
  providers: [...reconcilers, BuildKeeper],
  exports: [SiteReconciler],
})
export class SitesJanitorModule {}
