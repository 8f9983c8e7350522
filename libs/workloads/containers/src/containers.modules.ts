import { LifecycleModule } from '#lifecycle';
import { Module, type DynamicModule } from '@nestjs/common';
import type { ContainersEnv } from './containers.env.js';
import { EndHandler, ProvisionHandler } from './containers.handlers.js';
import { end, provision } from './containers.kinds.js';
import { ContainerRemoval } from './containers.removal.js';
import { EnginesModule } from './engines.module.js';
import { FleetSignature } from './fleet.signature.js';
import { LeaseClosing } from './lease.closing.js';
import { LeaseSending } from './lease.sending.js';
import { LeaseFollowers } from './leases.followers.js';
import { LeaseOwners } from './leases.owners.js';
import { LeaseRepository } from './leases.repository.js';
import { ContainerSurvey } from './reaper/container.survey.js';
import { LeaseCare } from './reaper/lease.care.js';
import { LeaseDeadlines } from './reaper/lease.deadlines.js';
import { LeaseMoorings } from './reaper/lease.moorings.js';
import { LeaseReaper } from './reaper/lease.reaper.js';
import { LeaseSurvey } from './reaper/lease.survey.js';
import { LeaseSweep } from './reaper/lease.sweep.js';

/** What each of them has. */
@Module({
  imports: [LifecycleModule.forKinds([provision, end])],
  providers: [LeaseClosing, LeaseFollowers, LeaseRepository, LeaseSending],
  exports: [LeaseClosing, LeaseRepository, LeaseSending],
})
export class LeasesModule {}

/** Where containers are made, and ended in time. */
@Module({})
export class ContainersWorkerModule {
  static with(env: ContainersEnv): DynamicModule {
    return {
      module: ContainersWorkerModule,
      imports: [LeasesModule, EnginesModule.with(env)],
      providers: [
        ContainerRemoval,
        EndHandler,
        FleetSignature,
        LeaseDeadlines,
        LeaseOwners,
        LeaseReaper,
        ProvisionHandler,
      ],
    };
  }
}

/** Where they are ended whoever else is there, and leases and containers compared. */
@Module({})
export class ContainersJanitorModule {
  static with(env: ContainersEnv): DynamicModule {
    return {
      module: ContainersJanitorModule,
      imports: [LeasesModule, EnginesModule.with(env)],
      providers: [
        ContainerRemoval,
        ContainerSurvey,
        FleetSignature,
        LeaseCare,
        LeaseDeadlines,
        LeaseMoorings,
        LeaseOwners,
        LeaseReaper,
        LeaseSurvey,
        LeaseSweep,
      ],
      exports: [LeaseCare, LeasesModule],
    };
  }
}
