import type { Provider } from '@nestjs/common';
import { OwnerCheck } from '../resolvers/owner-check.js';
import { OwnerLives } from '../resolvers/owner-lives.js';
import { Resolvers } from '../resolvers/resolvers.js';
import { ArtifactSweep } from './artifact-sweep.js';
import { ExpirySweep } from './expiry-sweep.js';
import { GoneObservations } from './orphans/gone-observations.js';
import { OrphanSweep } from './orphans/orphan-sweep.js';
import { RepairSweep } from './repair-sweep.js';
import { JobKeepers } from './retention/job-keepers.js';
import { JobRemover } from './retention/job-remover.js';
import { Quarantine } from './retention/quarantine.js';
import { RetentionSweep } from './retention/retention-sweep.js';
import { SweepBook } from './sweep-book.js';
import { SweepSettings } from './sweep-settings.js';
import { SweepWork } from './sweep-work.js';
import { Sweeper } from './sweeper.js';
import { Sweeps } from './sweeps.js';

/** What other modules may inject. */
export const SWEEP_EXPORTS = [OwnerCheck, OwnerLives, Quarantine, Resolvers, SweepBook, Sweeper];

export const SWEEP_PROVIDERS: Provider[] = [
  ...SWEEP_EXPORTS,
  GoneObservations,
  JobKeepers,
  JobRemover,
  SweepSettings,
  SweepWork,
  Sweeps,
  ArtifactSweep,
  ExpirySweep,
  OrphanSweep,
  RepairSweep,
  RetentionSweep,
];
