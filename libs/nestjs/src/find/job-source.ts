import type { ListedJob } from './listed-job.js';

/** A step of the store reads at most this number of jobs: other clients wait for it. */
export const READ_IN_ONE_STEP = 50;

/** One of the places that a list of jobs reads. */
export interface JobSource {
  /** The same for the same place in each page of a list. */
  readonly name: string;
  /** How many entries it has, or nearly. */
  count(): Promise<number>;
  /** The next entries behind a place, the newest first. */
  read(after: string | undefined, most: number): Promise<SourcePage>;
}

export interface SourcePage {
  readonly entries: readonly SourceEntry[];
  /** No entries follow. */
  readonly isLast: boolean;
}

export interface SourceEntry {
  /** Where it stands in its source. Pages continue behind it, also when it is gone. */
  readonly place: string;
  /** Undefined if its job is gone. */
  readonly job: ListedJob | undefined;
  /** The operation that retried it last, or ''. */
  readonly retriedBy?: string | undefined;
}
