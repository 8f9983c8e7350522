import type { JobLimits, OwnersOptions, RunOptions } from '#core';
import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';

/** Where the owners are, and what this process does for them. */
export interface MooringOptions extends Omit<OwnersOptions, 'partitions'> {
  /** Whether this process sweeps, and how often. Default false; any number of processes may. */
  readonly sweeps?: boolean | SweepOptions;
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
