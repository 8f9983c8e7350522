import { defineWorkload, ownerResolver, reconcileEvery } from '#workload-kit';
import { ContainerRemover } from './container-remover.js';
import * as env from './containers-env.js';
import { EndHandler, ProvisionHandler } from './containers.handler.js';
import { ContainerEndsProcessor, ContainersProcessor } from './containers.processor.js';
import { engineProviders } from './engine-providers.js';
import { FleetSignature } from './fleet-signature.js';
import { LeaseJobs } from './lease-jobs.js';
import { end, OWNER_TYPE, provision } from './lease-kinds.js';
import { LeaseRepository } from './lease-repository.js';
import { LeaseTerminator } from './lease-terminator.js';
import { ContainerReconciler } from './reaper/container-reconciler.js';
import { LeaseDeadlines } from './reaper/lease-deadlines.js';
import { LeaseReaper } from './reaper/lease-reaper.js';
import { LeaseReconciler } from './reaper/lease-reconciler.js';
import { LeaseSurvey } from './reaper/lease-survey.js';
import { LeaseSweep } from './reaper/lease-sweep.js';

export { ContainerEngine, type Container } from './engines/container-engine.js';
export { openEngine } from './engines/open-engine.js';
export { LIVE_STATES, type LeaseState } from './lease.js';
export { LeaseRepository } from './lease-repository.js';

/** For processes with the container engine: workers and janitors, which both end leases. The api has no engine. */
const withEngine = [
  ContainerRemover,
  FleetSignature,
  LeaseDeadlines,
  LeaseReaper,
  reconcileEvery(1_000, LeaseDeadlines, true),
  ownerResolver(OWNER_TYPE, LeaseRepository),
];

/** Containers that are leased for a limited time. */
export const containers = defineWorkload({
  name: 'containers',
  kinds: [provision, end],
  offers: 'Whether containers are leased; see `docs/workloads/containers.md`.',
  variables: { api: env.api, worker: env.engine, janitor: { ...env.engine, ...env.janitor } },
  providers: [LeaseJobs, LeaseRepository, LeaseTerminator],
  async api({ LEASE_IMAGES: images, LEASE_MAX: longestMs, LEASE_LIMIT: places }) {
    const { LeasesController } = await import('./http/leases.controller.js');
    const { LeaseLimits, Leases } = await import('./leases.service.js');
    const limits = { provide: LeaseLimits, useValue: { images, longestMs, places } };
    return { controllers: [LeasesController], providers: [Leases, limits] };
  },
  worker: (settings) => ({
    providers: [
      ...withEngine,
      ...engineProviders(settings),
      EndHandler,
      ProvisionHandler,
      ContainersProcessor,
      ContainerEndsProcessor,
    ],
  }),
  janitor: (settings) => ({
    providers: [
      ...withEngine,
      ...engineProviders(settings),
      ContainerReconciler,
      LeaseReconciler,
      LeaseSurvey,
      LeaseSweep,
    ],
  }),
  reconciled: { name: 'leases', everyMs: 500, reconciler: LeaseReconciler },
  swept: ({ LEASE_REAP_EVERY: everyMs }) => ({ kind: 'leases', everyMs }),
});
