import type { FairTurns, JobLimits, MooredWorkerOptions, OwnersOptions, RunOptions } from '#core';
import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';
import type { OwnerResolver } from './resolvers/owner-resolver.js';
import type { ArtifactStore } from './artifacts/artifact-store.js';
import type { KeepOptions } from './kinds/kind.js';
import type { Fact, FactListener, JobFacts } from './journal/fact.js';

/** Where the owners are, and what this process does for them. */
export interface MooringOptions extends Omit<OwnersOptions, 'outbox'> {
  /** Whether this process sweeps, and how often. Default false; any number of processes may. */
  readonly sweeps?: boolean | SweepOptions;
  /** Resolvers by owner type, beside the providers with `@ResolvesOwners`. */
  readonly resolvers?: ReadonlyMap<string, OwnerResolver>;
  /** How many jobs may wait in a queue of kinds. Default 100,000. */
  readonly maxWaiting?: number;
  /** The same for single queues. */
  readonly maxWaitingIn?: Readonly<Record<string, number>>;
  /** How long, and how many, finished jobs are kept of kinds that do not say. Default 24 h and 1,000. */
  readonly retention?: KeepOptions;
  /** Where runs leave artifacts. The same for all processes of an application. */
  readonly artifacts?: ArtifactStore;
  /** Hear everything that happens in this process: logs, metrics. By default the log of Nest does. */
  readonly listeners?: readonly FactListener[];
  /** Tells other services. Without it nothing is kept for them. */
  readonly publisher?: Publisher;
  /** How long, and how many, entries of the audit log are kept. Default 90 days and about 100,000. */
  readonly audit?: { readonly age?: number | string; readonly count?: number };
  /** For the processors of queues of kinds in this process. */
  readonly worker?: KindWorkerOptions;
}

/** Tells other services what happened: something of the application, such as a writer of a stream. */
export interface Publisher {
  /** Whether the fact was written, for good; nothing for a fact that other services are not told. The same fact may come twice. */
  publish(fact: Fact): Promise<boolean> | undefined;
}

/** Options of BullMQ's worker, for each queue of kinds. Those that `@Processor` is given win. */
export interface KindWorkerOptions extends Omit<
  MooredWorkerOptions,
  'connection' | 'prefix' | 'autorun' | 'limitsOf' | 'settings' | 'name'
> {
  /** Which kinds this process takes. Default all. The kinds of a queue go together. */
  readonly kinds?: readonly string[];
  /** How long the shutdown may take. Runs that have not ended by then are handed to other workers. Default 20 s. */
  readonly shutdownTimeout?: number | string;
  /** The version of the application, which the list of workers shows. */
  readonly version?: string;
  /** Wraps every run, for instance to give its log lines the ids of the job. */
  readonly around?: <T>(job: JobFacts, run: () => Promise<T>) => Promise<T>;
}

export interface SweepOptions {
  /** How often jobs of plain producers get their owners, in each queue with `ownersOf`. Default 30 s. */
  readonly adoptEvery?: number | string;
  /** How often cancels that are not done go on. Default 30 s. */
  readonly resumeEvery?: number | string;
  /** How often each kind of sweep begins, `false` for never. Default orphans 2 m, retention and artifacts 60 m, expiry 5 s, repair 10 m. */
  readonly every?: Readonly<Record<string, number | string | false>>;
  /** false for a process that sweeps only when `Sweeper` is called. Default true. */
  readonly timers?: boolean;
  /** How long after its newest job, and again after it was first seen gone, an owner is cancelled. Default 30 s. */
  readonly ownerGrace?: number | string;
  /** Of the owners asked about, the part that a sweep of orphans may end, and 20 always. Default 0.2. */
  readonly maxRatio?: number;
  /** How old artifacts without a job are before they are removed. Default 5 m. */
  readonly artifactGrace?: number | string;
  /** How long a killed process holds up a kind of sweep. Default 15 s. */
  readonly lock?: number | string;
  /** How long a sweep may keep another client of the store waiting before it slows down. Default 10 ms. */
  readonly stall?: number | string;
}

export interface MooringAsyncOptions
  extends Pick<ModuleMetadata, 'imports'>, Pick<FactoryProvider<MooringOptions>, 'inject' | 'useFactory'> {}

/** For the queue and the workers of one name. Options that these are given directly win. */
export interface ForQueueOptions extends RunOptions, Pick<MooredWorkerOptions, 'limiter'> {
  readonly limits?: JobLimits;
  /** The owners of its jobs take turns, so that one with many jobs does not hold up the others. A kind of the queue may say otherwise. */
  readonly fair?: boolean | FairTurns;
}

export const MOORING_OPTIONS = Symbol('MooringOptions');
