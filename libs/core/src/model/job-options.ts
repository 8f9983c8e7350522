import type { FairTurns } from './fair-turns.js';
import type { Owner } from './owner.js';

/** What happens when a job of the same key is pending already. */
export interface Dedup {
  /** `skip` keeps the pending job, `replace` puts the new one in its place, `coalesce` gives the pending job the new data. */
  readonly strategy: 'skip' | 'replace' | 'coalesce';
  readonly key: string;
  /** A delayed job that is coalesced again and again starts after this time at the latest. */
  readonly longestWait?: number | string;
}

/** Leave to run: at most `limit` jobs that name the key run at the same time. */
export interface Slot {
  readonly key: string;
  readonly limit: number;
  /** How many of them may start in a time. */
  readonly rate?: Rate | undefined;
}

/** A token bucket: up to `max` at once, and one more every `per` divided by `max`. */
export interface Rate {
  readonly max: number;
  /** ms, or a text such as `1s`. */
  readonly per: number | string;
}

/** For a day the same key is answered like the first request that had it, and adds no further job. A refused request does not use it up. */
export interface Idempotency {
  readonly key: string;
  /** What the requests of one key have in common. Another one is refused. */
  readonly request: string;
}

/** What a job may say beside BullMQ's own options. */
export interface OwnedJobOptions {
  /** Whose the job is: one to four owners. */
  readonly owners?: readonly (Owner | string)[];
  /** Not for a job of a flow. */
  readonly dedup?: Dedup;
  /** The job starts within this time or not at all: ms, or a text such as `5m`. */
  readonly expiresIn?: number | string;
  readonly slot?: Slot;
  /** The owners of the queue's jobs that say so take turns. Default as the queue says, or false. */
  readonly fair?: boolean | FairTurns;
  /** Not for a job of a flow, or of a scheduler. */
  readonly idempotency?: Idempotency;
  /**
   * When the job was asked for, ms by the store's clock, if it is added later. Its delay and `expiresIn` count from then, and it is refused if
   * an owner was cancelled since; see `Owners.takeLate`. Not for a job of a flow, or of a scheduler.
   */
  readonly askedAt?: number;
  /** The owners' epochs, as the store has them. What is given here is left out. */
  readonly mooring?: string;
}

// BullMQ's own `add`, `addBulk`, flows and schedulers take them as well, in the types as in fact.
declare module 'bullmq/dist/esm/interfaces/base-job-options.js' {
  interface BaseJobOptions extends OwnedJobOptions {}
}
