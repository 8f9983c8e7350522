import { defineWorkload, ownerResolver, reconcileEvery } from '#workload-kit';
import { BuildKeeper } from './build-keeper.js';
import { BuildPublisher } from './build-publisher.js';
import { build, OWNER_TYPE } from './site-kinds.js';
import { SiteReconciler } from './site-reconciler.js';
import { SiteRepository } from './site-repository.js';
import { BuildHandler } from './sites.handler.js';
import { BuildProcessor } from './sites.processor.js';

const RECONCILE_EVERY_MS = 2_000;

/** For processes that reconcile. */
const reconciling = [BuildPublisher, SiteReconciler];

/** Sites that are built again when their entities change. */
export const sites = defineWorkload({
  name: 'sites',
  kinds: [build],
  offers: 'Whether sites are offered; see `docs/workloads/sites.md`.',
  providers: [SiteRepository, ownerResolver(OWNER_TYPE, SiteRepository)],
  async api() {
    const { API } = await import('./sites-api.js');
    // Every api reconciles sites too, so that no change waits for a janitor to start.
    const loop = reconcileEvery(RECONCILE_EVERY_MS, SiteReconciler);
    return { ...API, providers: [...API.providers, ...reconciling, loop] };
  },
  worker: () => ({ providers: [BuildHandler, BuildProcessor] }),
  janitor: () => ({ providers: [...reconciling, BuildKeeper] }),
  reconciled: { everyMs: RECONCILE_EVERY_MS, reconciler: SiteReconciler },
});
