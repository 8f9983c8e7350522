import { ownersOfMark } from '#core/parts';
import { failedOfChild, wordsOfFailure } from '../history/failed-child.js';
import type { JobViewState } from '../read/job-view.js';

/** A job as a list shows it. */
export interface ListedJob {
  readonly id: string;
  readonly kind: string;
  readonly queue: string;
  readonly owners: readonly string[];
  readonly state: JobViewState;
  /** The beginning of the text of its failure, or why it was removed. */
  readonly error: string | null;
  readonly attempts: number;
  readonly acceptedAt: string;
  /** When its last run began; null if none has. */
  readonly beganAt: string | null;
  readonly endedAt: string | null;
  /** When a delayed or retrying job is due. */
  readonly dueAt: string | null;
}

/** What an operator recognizes a job by. */
export type BriefJob = Pick<ListedJob, 'id' | 'kind' | 'queue' | 'owners' | 'state' | 'error'>;

/** As `factsOf` of `job-facts.lua` answers. */
export type StoredFacts =
  | readonly []
  | readonly [
      name: string,
      added: string,
      began: string,
      ended: string,
      attempts: string,
      failure: string,
      mark: string,
      retriedBy: string,
    ];

export interface StoredJob {
  readonly queue: string;
  readonly id: string;
  readonly state: JobViewState;
  readonly facts: StoredFacts;
  /** ms */
  readonly dueAt?: number | undefined;
}

/** Undefined for a job that is gone. */
export function listedJob({ queue, id, state, facts, dueAt }: StoredJob): ListedJob | undefined {
  if (facts.length === 0) return undefined;
  const [kind, added, began, ended, attempts, failure, mark] = facts;
  // To BullMQ it is an attempt, too, that a parent fails because of a child.
  const unrun = state === 'failed' && failedOfChild(failure) ? 1 : 0;
  return {
    id,
    kind,
    queue,
    owners: mark === '' ? [] : ownersOfMark(mark),
    state,
    // BullMQ keeps the error of an earlier attempt when a later one completes.
    error: state === 'completed' ? null : wordsOfFailure(failure) || null,
    attempts: Number(attempts) - unrun,
    acceptedAt: new Date(Number(added)).toISOString(),
    beganAt: began === '' || unrun === 1 ? null : new Date(Number(began)).toISOString(),
    endedAt: ended !== '' ? new Date(Number(ended)).toISOString() : null,
    dueAt: dueAt === undefined ? null : new Date(dueAt).toISOString(),
  };
}
