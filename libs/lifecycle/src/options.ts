import type { Cluster, Redis } from 'ioredis';
import type { JobArtifacts } from './artifacts/job.artifacts.js';
import type { Durability } from './durability.js';
import type { JournalListener } from './journal.js';
import type { Measure } from './kinds/keep.js';
import type { Teller } from './news/teller.js';
import type { JobFacts } from './kinds/job-facts.js';
import type { OwnerResolver } from './resolvers/owner.resolver.js';

/** What the library is handed by the application. It reads no environment. */
export abstract class LifecycleOptions {
  /** One connection for all ordinary commands; it needs `maxRetriesPerRequest: null`. The application closes it. */
  abstract readonly redis: Redis | Cluster;
  /** Begins every key. BullMQ's keys get it as a hash tag, so that all of them live in one Cluster slot. */
  readonly prefix?: string;
  /** How long a caller waits for the store before it is told that the store is unavailable. Default 1500 ms. */
  readonly storeTimeoutMs?: number;
  /** The largest payload, as JSON. Default 256 KiB. */
  readonly maxPayloadBytes?: number;
  /** How many jobs may wait in a queue. Default 100,000. */
  readonly maxWaiting?: number;
  /** Of single queues, by name, where that is fewer. */
  readonly maxWaitingIn?: Readonly<Record<string, number>>;
  /**
   * How long the clean-up after a cancel is left to the process that began it, and how often this process looks for one that
   * was left undone. Default 5 s.
   */
  readonly cleanUpEveryMs?: number;
  /** How long the receipts of cancels are kept, and the history of what was removed. Default 7 days; the same for all. */
  readonly receiptKeepMs?: number;
  /** How many owners may be closed at a time without ever having had a job; more are refused. Default 100,000; the same for all. */
  readonly maxClosed?: number;
  /** How often this process gives schedules that are due their turns. Absent: never; any one process will do. */
  readonly tickEveryMs?: number;
  /** Who knows which owner type, beside those found by their decorator. Two for one type are refused at the start. */
  readonly resolvers?: ReadonlyMap<string, OwnerResolver>;
  /** Present where sweeps are done: a janitor. */
  readonly sweeps?: SweepOptions;
  /** Where handlers leave artifacts. Absent: they cannot. All processes of a fleet have the same. */
  readonly artifacts?: JobArtifacts;
  /** How long, and how many, finished jobs are kept of a kind that does not say. Default 24 h and 1000. */
  readonly retention?: Partial<Measure>;
  /** Everything that happens is told to these: logs, metrics. */
  readonly listeners?: readonly JournalListener[];
  /**
   * What an enqueue and a cancel wait for before they answer, and whose word they pass on as `durable`. Absent: they wait for
   * nothing; a receipt then says `durable: false`, and a ticket says nothing of it.
   */
  readonly durability?: Durability;
  /** Tells other services, and says when it has. Absent: they are told nothing, and nothing is kept for them. */
  readonly teller?: Teller;
  /** Present where jobs are run; absent in a process that only enqueues. */
  readonly worker?: WorkerOptions;
}

export interface SweepOptions {
  /** How long an owner has been without a new job, and was seen to be gone, before its jobs are ended. Default 30 s. */
  readonly ownerGraceMs?: number;
  /** Of the owners asked about, the part that one sweep may end; above it nothing is removed. Default 0.2, and 20 always. */
  readonly maxRatio?: number;
  /** How long a sweep may keep another client of the store waiting before it slows down. Default 10 ms. */
  readonly stallMs?: number;
  /** How long ago the last of a job's artifacts was written before they can be taken for left behind. Default 5 min. */
  readonly artifactGraceMs?: number;
  /** How long whoever removes a finished job has it to itself; it gives up when half of that has passed. Default 1 min. */
  readonly reapHoldMs?: number;
  /** How long a process has a sort of sweep to itself without a sign of life. Default 15 s. */
  readonly lockMs?: number;
  /** How long one page of a sweep may take before another process may take the sweep over. Default 10 min. */
  readonly longestPageMs?: number;
}

export interface WorkerOptions {
  /** Which kinds this process runs. Default all that it knows. A queue's kinds go together. */
  readonly kinds?: readonly string[];
  /** How many jobs of each queue run at once. Default 10. */
  readonly concurrency?: number;
  /** How long a run is held without a sign of life from its process. Default 10 s. */
  readonly lockMs?: number;
  /** How long all running jobs have, in all, when the process is told to stop. Default 20 s. */
  readonly drainMs?: number;
  /** Wraps every run, for instance to give its log lines the job's ids. */
  readonly around?: <T>(job: JobFacts, run: () => Promise<T>) => Promise<T>;
}

export const LIFECYCLE_DEFAULTS = {
  prefix: 'mooring',
  storeTimeoutMs: 1_500,
  maxPayloadBytes: 256 * 1024,
  maxWaiting: 100_000,
  cleanUpEveryMs: 5_000,
  receiptKeepMs: 7 * 86_400_000,
  maxClosed: 100_000,
  retention: { ageMs: 86_400_000, count: 1_000 },
  concurrency: 10,
  lockMs: 10_000,
  drainMs: 20_000,
  ownerGraceMs: 30_000,
  sweepMaxRatio: 0.2,
  sweepStallMs: 10,
  sweepLockMs: 15_000,
  sweepLongestPageMs: 600_000,
  artifactGraceMs: 300_000,
  reapHoldMs: 60_000,
} as const;
