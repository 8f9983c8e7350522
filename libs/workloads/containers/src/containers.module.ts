import { LifecycleModule } from '#lifecycle';
import { Module, type DynamicModule } from '@nestjs/common';
import type { ContainersEnv } from './containers.env.js';
import { EndHandler, ProvisionHandler } from './containers.handler.js';
import { end, provision } from './lease-kinds.js';
import { ContainerRemover } from './container-remover.js';
import { EnginesModule } from './engines.module.js';
import { FleetSignature } from './fleet-signature.js';
import { LeaseTerminator } from './lease-terminator.js';
import { LeaseJobSender } from './lease-job-sender.js';
import { OwnerCancelFollower } from './owner-cancel-follower.js';
import { LeaseOwnerResolver } from './lease-owner.resolver.js';
import { LeaseRepository } from './lease-repository.js';
import { ContainerReconciler } from './reaper/container-reconciler.js';
import { LeaseReconciler } from './reaper/lease-reconciler.js';
import { LeaseDeadlines } from './reaper/lease-deadlines.js';
import { LeaseJobLinks } from './reaper/lease-job-links.js';
import { LeaseReaper } from './reaper/lease-reaper.js';
import { LeaseSurvey } from './reaper/lease-survey.js';
import { LeaseSweep } from './reaper/lease-sweep.js';

/** Providers that every app needs. */
@Module({
  imports: [LifecycleModule.forKinds([provision, end])],
  providers: [LeaseTerminator, OwnerCancelFollower, LeaseRepository, LeaseJobSender],
  exports: [LeaseTerminator, LeaseRepository, LeaseJobSender],
})
export class LeasesModule {}

/** Workers: create containers and end leases at their deadline. */
@Module({})
export class ContainersWorkerModule {
  static with(env: ContainersEnv): DynamicModule {
    return {
      module: ContainersWorkerModule,
      imports: [LeasesModule, EnginesModule.with(env)],
      providers: [
        ContainerRemover,
        EndHandler,
        FleetSignature,
        LeaseDeadlines,
        LeaseOwnerResolver,
        LeaseReaper,
        ProvisionHandler,
      ],
    };
  }
}

/** Janitors: end leases even without workers, and reconcile leases with containers. */
@Module({})
export class ContainersJanitorModule {
  static with(env: ContainersEnv): DynamicModule {
    return {
      module: ContainersJanitorModule,
      imports: [LeasesModule, EnginesModule.with(env)],
      providers: [
        ContainerRemover,
        ContainerReconciler,
        FleetSignature,
        LeaseReconciler,
        LeaseDeadlines,
        LeaseJobLinks,
        LeaseOwnerResolver,
        LeaseReaper,
        LeaseSurvey,
        LeaseSweep,
      ],
      exports: [LeaseReconciler, LeasesModule],
    };
  }
}
