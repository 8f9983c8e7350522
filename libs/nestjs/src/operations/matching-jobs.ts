import { Owners } from '#core';
import { Inject, Injectable } from '@nestjs/common';
import { matches } from '../find/job-filter.js';
import { JobSources } from '../find/job-sources.js';
import type { SourceEntry, SourcePage } from '../find/job-source.js';
import type { ListedJob } from '../find/listed-job.js';
import { STRUCTURES_IN_ORDER, structuresOf, type QueueSource, type Structure } from '../find/queue-source.js';
import { readListById } from './list-by-id.js';
import { MovedJobs } from './moved-jobs.js';
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
/** A pass over a queue is repeated if it is not known what has moved meanwhile. */
const MOST_PASSES = 10;

interface QueuePosition {
  readonly source: string;
  readonly after?: string | undefined;
  /** All of the queue was read: only what has moved meanwhile is not. */
  readonly isRead?: boolean;
  /** The last event of the queue that was read. */
  readonly event?: string | undefined;
  /** How often the queue was read before. */
  readonly passes: number;
}

/** Where an operation is: in its scan of an owner's record, or in the lists and sets of a queue. */
type Position = { readonly cursor: string } | QueuePosition;

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
 * Finds the jobs that an operation is about, a page at a time. One that stays as the filter says, from the start to the end, is found: the
 * failed and completed ones where they stand, those of an owner in its record. A job that must be cancelled may go back meanwhile to where
 * this has been already, from a run to a delay for instance. So the events of its queue are read too, and who has moved is looked at again.
 */
@Injectable()
export class MatchingJobs {
  constructor(
    private readonly sources: JobSources,
    private readonly moved: MovedJobs,
    @Inject(Owners) private readonly owners: Owners,
  ) {}

  next(record: OperationRecord, limit: number): Promise<FoundJobs> {
    const { action, filter } = record;
    const position = record.position === undefined ? undefined : (JSON.parse(record.position) as Position);
    if (action === 'cancel' && filter.owner !== undefined)
      return this.ofOwner(record, position && 'cursor' in position ? position.cursor : '0');
    return this.inQueues(record, position && 'source' in position ? position : undefined, limit);
  }

  /** Jobs that have not ended are listed with their owner: other jobs cost nothing. */
  private async ofOwner(record: OperationRecord, cursor: string): Promise<FoundJobs> {
    const { jobs, next } = await this.sources.owned(record.filter.owner!).scan(cursor);
    return {
      jobs: jobs.flatMap((job) => matchOf(record, { place: '', job }, 'owner')),
      seen: jobs.length,
      position: next === '0' ? undefined : JSON.stringify({ cursor: next }),
    };
  }

  private async inQueues(
    record: OperationRecord,
    at: QueuePosition | undefined,
    limit: number,
  ): Promise<FoundJobs> {
    const { action, filter, limitedTo: within } = record;
    const sources = this.sources.inQueues({ ...filter, within }, structuresFor(action, filter.state) ?? []);
    const source = sources.find(({ name }) => name === at?.source) ?? sources[0];
    if (!source) return { jobs: [], seen: 0, position: undefined };
    const event = at?.event ?? (watches(record) ? await this.moved.last(source.queue) : undefined);
    const page = at?.isRead ? NOTHING : await readPage(source, at?.after, limit);
    const moved = event === undefined ? undefined : await this.moved.since(source.queue, event);
    // What went back has run.
    const active = sources.findLast(({ queue }) => queue === source.queue)!;
    const again = moved ? await active.readIds(moved.ids) : [];
    const jobs = [...page.entries, ...again.filter(({ job }) => job?.endedAt === null)].flatMap((entry) =>
      matchOf(record, entry, source.structure),
    );
    const reached: QueuePosition = {
      source: source.name,
      after: page.entries.at(-1)?.place ?? at?.after,
      event: moved?.last,
      passes: at?.passes ?? 0,
    };
    const position =
      moved?.isLost && reached.passes < MOST_PASSES
        ? {
            source: sources.find(({ queue }) => queue === source.queue)!.name,
            event: moved.last,
            passes: reached.passes + 1,
          }
        : follow(reached, sources, source, page.isLast, moved?.isLast ?? true);
    return {
      jobs: event === undefined ? jobs : await this.withoutCancelled(record, jobs),
      seen: page.entries.length,
      position: position && JSON.stringify(position),
    };
  }

  /** A job that runs stays where it is until it has stopped. What could not be cancelled is not tried again. */
  private async withoutCancelled<J extends ListedJob>(
    { operationId, problems }: OperationRecord,
    jobs: readonly J[],
  ): Promise<J[]> {
    const refused = new Set(problems.map(({ id }) => id));
    const rest = [...new Map(jobs.map((job) => [job.id, job])).values()].filter(({ id }) => !refused.has(id));
    const receipts = await Promise.all(
      rest.map(({ queue, id }) => this.owners.receipt(cancelIdOf(operationId, queue, id))),
    );
    return rest.filter((_, i) => !receipts[i]);
  }
}

const NOTHING: SourcePage = { entries: [], isLast: true };

function readPage(source: QueueSource, after: string | undefined, limit: number): Promise<SourcePage> {
  return source.isList ? readListById(source, after, limit) : source.read(after, limit);
}

/** With a state in the filter, a job that moves is no longer as it says. */
function watches({ action, filter, dryRun }: OperationRecord): boolean {
  return action === 'cancel' && filter.state === undefined && !dryRun;
}

function follow(
  reached: QueuePosition,
  sources: readonly QueueSource[],
  source: QueueSource,
  isLast: boolean,
  areEventsRead: boolean,
): QueuePosition | undefined {
  if (!isLast) return reached;
  const next = sources[sources.indexOf(source) + 1];
  if (next?.queue === source.queue) return { ...reached, source: next.name, after: undefined };
  if (!areEventsRead) return { ...reached, isRead: true };
  return next && { source: next.name, passes: 0 };
}

function matchOf(
  record: OperationRecord,
  { job, place, retriedBy = '' }: SourceEntry,
  set: PendingJob['set'],
): (ListedJob & PendingJob)[] {
  if (!job || !isFor(record, job, retriedBy)) return [];
  return [{ ...job, set, at: job.endedAt === null ? 0 : parseFloat(place) }];
}

/** A job that was accepted after the operation began is not cancelled by it, and one that it has retried is not retried again. */
function isFor(
  { action, filter, limitedTo: within, startedAt, operationId }: OperationRecord,
  job: ListedJob,
  retriedBy: string,
): boolean {
  if (!matches(job, { ...filter, within }) || (job.endedAt ?? job.acceptedAt) >= (filter.before ?? '~'))
    return false;
  return action === 'cancel' ? job.acceptedAt <= startedAt : action === 'remove' || retriedBy < operationId;
}
