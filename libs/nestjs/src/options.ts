import type { JobLimits, OwnersOptions, RunOptions } from '#core';
import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';
import type { ArtifactStore } from './artifacts/artifact-store.js';
import type { KeepOptions } from './kinds/kind.js';

/** Where the owners are, and what this process does for them. */
export interface MooringOptions extends Omit<OwnersOptions, 'partitions'> {
  /** Whether this process sweeps, and how often. Default false; any number of processes may. */
  readonly sweeps?: boolean | SweepOptions;
  /** How many jobs may wait in a queue of kinds. Default 100,000. */
  readonly maxWaiting?: number;
  /** The same for single queues. */
  readonly maxWaitingIn?: Readonly<Record<string, number>>;
  /** How long, and how many, finished jobs are kept of kinds that do not say. Default 24 h and 1,000. */
  readonly retention?: KeepOptions;
  /** Where runs leave artifacts. The same for all processes of an application. */
  readonly artifacts?: ArtifactStore;
}

export interface SweepOptions {
  /** How often jobs of plain producers get their owners, in each queue with `ownersOf`. Default 30 s. */
  readonly adoptEvery?: number | string;
  /** How often cancels that are not done go on. Default 30 s. */
  readonly resumeEvery?: number | string;
}

export interface MooringAsyncOptions
  extends Pick<ModuleMetadata, 'imports'>, Pick<FactoryProvider<MooringOptions>, 'inject' | 'useFactory'> {}

/** For the queue and the workers of one name. Options that these are given directly win. */
export interface ForQueueOptions extends RunOptions {
  readonly limits?: JobLimits;
}

export const MOORING_OPTIONS = Symbol('MooringOptions');
