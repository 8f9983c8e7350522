import type { OnModuleInit } from '@nestjs/common';
import type { Sweeps } from './sweeps.js';

export const SWEEP_KINDS = ['orphans', 'retention', 'expiry', 'artifacts', 'leases', 'repair'] as const;
export type SweepKind = (typeof SWEEP_KINDS)[number];

/** Where a sweep is before its first page. */
export const BEGINNING = 'begin';

/** What a sweep counts, in things of its own: owners, jobs, entries. */
export interface Counts {
  readonly seen: number;
  readonly removed: number;
  readonly kept: number;
  /** Of which nobody could say what is to become of them; they are kept. */
  readonly unknown: number;
  /** Which were to go, or to be mended, and could not. */
  readonly failed: number;
  /** Mended. */
  readonly healed: number;
  /** Jobs that went with what was removed. */
  readonly jobs: number;
}

/** Something that goes, is mended, or could not be, and why. In a dry run: that would. */
export interface SweepLine {
  readonly what: string;
  readonly why: string;
}

/** One whole sweep, which may be many pages and several processes long. */
export interface Round {
  readonly sweepId: string;
  /** Nothing is removed and nothing noted; only said. */
  readonly dryRun: boolean;
  /** An operator wants it done all the same. */
  readonly force: boolean;
  /** Where the page before ended; undefined at the beginning. */
  readonly position: string | undefined;
  /** Grows each time a process takes this sort of sweep over: for effects that an overtaken one must not have. */
  readonly fence: number;
  /** Aborts when the lock is lost or the process ends: a page may stop between two of its things. */
  readonly signal: AbortSignal;
}

export interface Page extends Partial<Counts> {
  /** Where the next one begins; null when this was the last. */
  readonly position: string | null;
  /** How many there are to be seen in all, about, where that is known. */
  readonly of?: number;
  /** With the last page: of those kept, how many are to go and wait since they could not. */
  readonly waiting?: number;
  readonly lines?: readonly SweepLine[];
  /** Why nothing is removed until an operator says so; the sweep ends with this page. */
  readonly tripped?: string;
  /** A word for the record. */
  readonly why?: string;
}

/** Another process has taken this sort of sweep over: what this one found out may be old, and is not written. */
export class SweepOvertaken extends Error {
  constructor() {
    super('Another process took it over.');
    this.name = 'SweepOvertaken';
  }
}

/**
 * A piece of the janitor's work. A page is bounded, may be done twice or by two processes at once without harm, and
 * depends on no lock for its safety. What it decides on is read from the store, and where that may have changed it
 * compares and sets.
 */
export abstract class Sweep implements OnModuleInit {
  abstract readonly kind: SweepKind;

  constructor(private readonly sweeps: Sweeps) {}

  onModuleInit(): void {
    this.sweeps.add(this);
  }

  /** Whether there is anything for it; where that is soon said, a turn without work leaves no record. */
  async hasWork(): Promise<boolean> {
    return true;
  }

  /** One page of about so many things. */
  abstract sweepOnce(limit: number, round: Round): Promise<Page>;
}
