import type { CancelOptions, OwnedJobOptions, ReopenOptions } from '#core';
import type { JobsOptions } from 'bullmq';

/** A client of PostgreSQL in the caller's transaction: that of `pg`, or an object that passes the statement on. */
export interface Queryable {
  query(text: string, values: string[]): Promise<unknown>;
}

export type Action = 'enqueue' | 'cancel' | 'cancel-job' | 'reopen';

/** What a caller may say of a job. Its id, and what makes it safe to add twice, are the outbox's. */
export type OutboxJobOptions = Omit<JobsOptions, keyof OwnedJobOptions | 'jobId' | 'parent' | 'repeat'> &
  Omit<OwnedJobOptions, 'idempotency' | 'askedAt' | 'mooring'>;

export type OutboxCancelOptions = Pick<CancelOptions, 'reason' | 'by' | 'cancelId' | 'close' | 'happenedAt'>;

/** What a row asks for, as JSON in its column `body`. */
export interface Body {
  /** Of an enqueue. */
  readonly data?: unknown;
  /** Of a cancel and a reopening. */
  readonly owner?: string;
  /** Of the cancel of one job. */
  readonly job?: string;
  readonly options: object;
}

/** A row that a caller wrote. */
export interface NewRow {
  /** Of a job its id, of a cancel its cancelId. */
  readonly id: string;
  readonly action: Action;
  /** As they stand in the store's keys. */
  readonly owners: readonly string[];
  readonly queue?: string;
  readonly name?: string;
  readonly body: Body;
}

/** A row that a relay works at. */
export interface ClaimedRow extends NewRow {
  readonly attempts: number;
  /** When it was written, ms by the database's clock. */
  readonly at: number;
}

/** Brings rows to the store. Each call may be repeated: the second one changes nothing. */
export interface OutboxTarget {
  /** The store's time, ms. From now on the store remembers cancels for rows that come late. */
  now(): Promise<number>;
  /** @param askedAt when it was asked for, ms by the store's clock */
  enqueue(row: ClaimedRow, askedAt: number): Promise<unknown>;
  cancel(owner: string, options: CancelOptions): Promise<unknown>;
  cancelJob(queue: string, id: string, options: CancelOptions): Promise<unknown>;
  reopen(owner: string, options: ReopenOptions): Promise<unknown>;
}
