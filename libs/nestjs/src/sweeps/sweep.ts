import type { StoreLock } from '../store/mooring-store.js';

/** What a sweep counts, in things of its own: owners, jobs, artifacts. */
export interface Counts {
  readonly seen: number;
  /** In a dry run: would be removed. */
  readonly removed: number;
  readonly kept: number;
  /** Kept, because their state could not be found out. */
  readonly unknown: number;
  /** Could not be removed or repaired. */
  readonly failed: number;
  readonly healed: number;
  /** Jobs that were removed together with what was removed. */
  readonly jobs: number;
}

/** Something that is removed or repaired, or could not be, and why. */
export interface SweepLine {
  readonly what: string;
  readonly why: string;
}

/** A whole sweep. It may take many pages, and several processes. */
export interface Round {
  readonly sweepId: string;
  /** Changes nothing: only counts and lines. */
  readonly dryRun: boolean;
  /** An operator overrules what would stop it. */
  readonly force: boolean;
  /** Where the page before ended; undefined for the first one. */
  readonly position: string | undefined;
  readonly lock: StoreLock;
  /** Aborts when the lock is lost or the process shuts down: a page may end early, with the position where it stopped. */
  readonly signal: AbortSignal;
}

export interface Page extends Partial<Counts> {
  /** Where the next page begins; null after the last one. */
  readonly position: string | null;
  /** How many of those kept wait for another attempt. */
  readonly waiting?: number;
  readonly lines?: readonly SweepLine[];
  /** Why nothing is removed until an operator acknowledges or forces it. The sweep ends with this page. */
  readonly tripped?: string;
  readonly why?: string;
}

/**
 * A kind of sweep. Every provider that extends it is found at start. A page is bounded. It may be repeated, or done by two processes at
 * once, without harm.
 */
export abstract class Sweep {
  /** Its name in records and for operators: `orphans`. */
  abstract readonly kind: string;

  /** A scheduled sweep that answers false is skipped and leaves no record. */
  async hasWork(): Promise<boolean> {
    return true;
  }

  /** One page of about `limit` things. */
  abstract sweepOnce(limit: number, round: Round): Promise<Page>;
}
