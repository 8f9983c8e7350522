import { Owners } from '#core';
import { Inject, Injectable } from '@nestjs/common';
import { matches } from '../find/job-filter.js';
import { JobSources } from '../find/job-sources.js';
import type { SourceEntry } from '../find/job-source.js';
import type { ListedJob } from '../find/listed-job.js';
import { STRUCTURES_IN_ORDER, structuresOf, type QueueSource, type Structure } from '../find/queue-source.js';
import { readListById } from './list-by-id.js';
import {
  cancelIdOf,
  type OperationAction,
  type OperationRecord,
  type PendingJob,
  type WalkedState,
} from './operation.js';

const ENDED: readonly Structure[] = ['completed', 'failed'];
const SUBJECTS: Readonly<Record<OperationAction, readonly Structure[]>> = {
  retry: ['failed'],
  // In the order in which a job passes them: one that moves on while they are read is met again.
  cancel: STRUCTURES_IN_ORDER.filter((each) => !ENDED.includes(each)),
  remove: ENDED,
};
const MOST_PASSES = 10;

/** Where an operation is: in its scan of an owner's record, or in a pass over the structures of the queues. */
type Position =
  | { readonly cursor: string }
  | {
      /** Counted from 1. */
      readonly pass: number;
      /** How many jobs this pass has found. */
      readonly found: number;
      readonly source?: string | undefined;
      readonly after?: string | undefined;
    };

export interface FoundJobs {
  readonly jobs: readonly (ListedJob & PendingJob)[];
  readonly seen: number;
  /** Undefined after the last page. */
  readonly position: string | undefined;
}

/** Where the jobs that an operation is about may be; undefined if its action is not for jobs in that state. */
export function structuresFor(
  action: OperationAction,
  state: WalkedState | undefined,
): readonly Structure[] | undefined {
  if (state === undefined) return SUBJECTS[action];
  const wanted = structuresOf(state);
  return wanted.every((each) => SUBJECTS[action].includes(each)) ? wanted : undefined;
}

/**
 * Finds the jobs that an operation is about, a page at a time. A failed, completed or owned job that stays as it is is found in one pass. What
 * a cancel is about may go back to where this has been already, from a run to a delay for instance: passes are repeated until one finds no job
 * that the operation has not cancelled.
 */
@Injectable()
export class MatchingJobs {
  constructor(
    private readonly sources: JobSources,
    @Inject(Owners) private readonly owners: Owners,
  ) {}

  next(record: OperationRecord, limit: number): Promise<FoundJobs> {
    const { action, filter } = record;
    const position = record.position === undefined ? undefined : (JSON.parse(record.position) as Position);
    if (action === 'cancel' && filter.owner !== undefined)
      return this.ofOwner(record, position && 'cursor' in position ? position.cursor : '0');
    const at = position && 'pass' in position ? position : { pass: 1, found: 0 };
    return this.inQueues(record, at, limit);
  }

  /** Jobs that have not ended are listed with their owner: other jobs cost nothing. */
  private async ofOwner(record: OperationRecord, cursor: string): Promise<FoundJobs> {
    const { jobs, next } = await this.sources.owned(record.filter.owner!).scan(cursor);
    const wanted = jobs.filter((job) => isFor(record, job));
    return {
      jobs: wanted.map((job) => ({ ...job, set: 'owner', at: 0 })),
      seen: jobs.length,
      position: next === '0' ? undefined : JSON.stringify({ cursor: next }),
    };
  }

  private async inQueues(
    record: OperationRecord,
    { pass, found, source: name, after }: Exclude<Position, { cursor: string }>,
    limit: number,
  ): Promise<FoundJobs> {
    const { action, filter } = record;
    const sources = this.sources.inQueues(filter, structuresFor(action, filter.state) ?? []);
    const source = sources.find((each) => each.name === name) ?? sources[0];
    if (!source) return { jobs: [], seen: 0, position: undefined };
    const { entries, isLast } = source.isList
      ? await readListById(source, after, limit)
      : await source.read(after, limit);
    const matching = entries.flatMap((entry) => matchOf(record, source, entry));
    const jobs = pass === 1 ? matching : await this.withoutCancelled(record, matching);
    const sum = found + jobs.length;
    const following = sources[sources.indexOf(source) + 1];
    const position: Position | undefined = !isLast
      ? { pass, found: sum, source: source.name, after: entries.at(-1)?.place ?? after }
      : following
        ? { pass, found: sum, source: following.name }
        : isRepeated(record, pass, sum)
          ? { pass: pass + 1, found: 0 }
          : undefined;
    return { jobs, seen: entries.length, position: position && JSON.stringify(position) };
  }

  /** A job that runs stays where it is until it has stopped. What could not be cancelled is not tried again. */
  private async withoutCancelled<J extends ListedJob>(
    { operationId, problems }: OperationRecord,
    jobs: readonly J[],
  ): Promise<J[]> {
    const refused = new Set(problems.map(({ id }) => id));
    const rest = jobs.filter(({ id, owners }) => !refused.has(id) && owners.length > 0);
    const receipts = await Promise.all(
      rest.map(({ queue, id }) => this.owners.receipt(cancelIdOf(operationId, queue, id))),
    );
    return rest.filter((_, i) => !receipts[i]);
  }
}

function isRepeated({ action, dryRun }: OperationRecord, pass: number, found: number): boolean {
  return action === 'cancel' && !dryRun && found > 0 && pass < MOST_PASSES;
}

function matchOf(
  record: OperationRecord,
  { structure }: QueueSource,
  { job, place, retriedBy = '' }: SourceEntry,
): (ListedJob & PendingJob)[] {
  if (!job || !isFor(record, job, retriedBy)) return [];
  return [{ ...job, set: structure, at: ENDED.includes(structure) ? parseFloat(place) : 0 }];
}

/** A job that was accepted after the operation began is not cancelled by it, and one that it has retried is not retried again. */
function isFor(
  { action, filter, startedAt, operationId }: OperationRecord,
  job: ListedJob,
  retriedBy = '',
): boolean {
  if (!matches(job, filter) || (job.endedAt ?? job.acceptedAt) >= (filter.before ?? '~')) return false;
  return action === 'cancel' ? job.acceptedAt <= startedAt : action === 'remove' || retriedBy < operationId;
}
