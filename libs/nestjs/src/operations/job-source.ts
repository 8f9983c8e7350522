import { Owners, parseOwner } from '#core';
import { Inject, Injectable } from '@nestjs/common';
import { ApplicationQueues } from '../queues/application-queues.js';
import { JobWalk, type JobSet, type WalkedJob, type WalkFilter, type WalkPosition } from './job-walk.js';
import type { OperationAction, OperationFilter, OperationRecord, WalkedState } from './operation.js';

/** The step of the store that reads them looks at each. */
const MOST_OWNED = 100;
/** The sets in which a job that has not ended may be, in the order in which it passes them. */
const UNENDED: readonly JobSet[] = ['waiting-children', 'delayed', 'prioritized', 'active'];
const SETS_OF: Readonly<Record<WalkedState, readonly JobSet[]>> = {
  waiting: ['waiting-children', 'prioritized'],
  delayed: ['delayed'],
  retrying: ['delayed'],
  running: ['active'],
  completed: ['completed'],
  failed: ['failed'],
};
const SETS_FOR: Readonly<Record<OperationAction, readonly JobSet[]>> = {
  retry: ['failed'],
  cancel: UNENDED,
  remove: ['completed', 'failed'],
};
/** In which set a job of an owner is, by the state that the owner's record has of it. */
const SET_OF_OWNED: Readonly<Record<string, JobSet>> = {
  running: 'active',
  waiting: 'prioritized',
  'waiting-children': 'waiting-children',
  delayed: 'delayed',
  retrying: 'delayed',
};

/** Where an operation is: in a set of a queue, or in the list of an owner's jobs. */
type Position =
  | { readonly queue: string; readonly set: JobSet; readonly walk?: WalkPosition }
  | { readonly cursor: string };

export interface FoundJobs {
  readonly jobs: readonly WalkedJob[];
  readonly seen: number;
  /** Undefined after the last page. */
  readonly position: string | undefined;
}

/** The sets that an operation walks; undefined if its action is not for jobs in that state. */
export function setsOf(
  action: OperationAction,
  state: WalkedState | undefined,
): readonly JobSet[] | undefined {
  const sets = SETS_FOR[action];
  if (state === undefined) return sets;
  return SETS_OF[state].every((set) => sets.includes(set)) ? SETS_OF[state] : undefined;
}

/** Finds the jobs that an operation is about, a page at a time. */
@Injectable()
export class JobSource {
  constructor(
    private readonly queues: ApplicationQueues,
    private readonly walk: JobWalk,
    @Inject(Owners) private readonly owners: Owners,
  ) {}

  async next(record: OperationRecord, limit: number): Promise<FoundJobs> {
    const { action, filter } = record;
    const sets = setsOf(action, filter.state) ?? [];
    const queues = this.queuesOf(filter);
    const position = record.position === undefined ? undefined : (JSON.parse(record.position) as Position);
    // Jobs that have not ended are listed with their owner: other jobs cost nothing.
    if (action === 'cancel' && filter.owner !== undefined)
      return this.ofOwner(filter.owner, record, sets, queues, (position ?? { cursor: '0' }) as never, limit);
    const at = (position ?? firstIn(queues, sets)) as Exclude<Position, { cursor: string }> | undefined;
    if (!at) return { jobs: [], seen: 0, position: undefined };
    const { jobs, seen, next } = await this.walk.page(at.queue, at.set, filterOf(filter), limit, at.walk);
    const behind = next ? { ...at, walk: next } : placeAfter(at, queues, sets);
    return {
      jobs: jobs.filter((job) => isFor(record, job)),
      seen,
      position: behind && JSON.stringify(behind),
    };
  }

  private async ofOwner(
    owner: string,
    record: OperationRecord,
    sets: readonly JobSet[],
    queues: readonly string[],
    { cursor }: { readonly cursor: string },
    limit: number,
  ): Promise<FoundJobs> {
    const view = await this.owners.get(parseOwner(owner), { cursor, limit: Math.min(limit, MOST_OWNED) });
    const listed = view?.jobs ?? [];
    const wanted = listed.filter(
      ({ queue, state }) => queues.includes(queue) && sets.includes(SET_OF_OWNED[state] ?? 'active'),
    );
    const read = wanted.map(({ queue, id, state }) =>
      this.walk.read(queue, SET_OF_OWNED[state] ?? 'active', [[id, 0]], filterOf(record.filter)),
    );
    const jobs = (await Promise.all(read)).flat().filter((job) => isFor(record, job));
    return { jobs, seen: listed.length, position: view?.cursor && JSON.stringify({ cursor: view.cursor }) };
  }

  private queuesOf({ queue }: OperationFilter): readonly string[] {
    const all = [...this.queues.all().keys()].toSorted();
    return queue === undefined ? all : all.filter((name) => name === queue);
  }
}

function filterOf(filter: OperationFilter): WalkFilter {
  const { before, queue: _, ...same } = filter;
  return { ...same, ...(before !== undefined && { before: Date.parse(before) }) };
}

/** A job that was enqueued after the operation began is not cancelled by it, and one that it has retried is not retried again. */
function isFor({ action, startedAt, operationId }: OperationRecord, job: WalkedJob): boolean {
  if (action === 'cancel') return job.acceptedAt <= Date.parse(startedAt);
  return action !== 'retry' || job.retriedBy < operationId;
}

function firstIn(queues: readonly string[], sets: readonly JobSet[]): Position | undefined {
  const [queue] = queues;
  return queue === undefined ? undefined : { queue, set: sets[0]! };
}

function placeAfter(
  { queue, set }: { readonly queue: string; readonly set: JobSet },
  queues: readonly string[],
  sets: readonly JobSet[],
): Position | undefined {
  const next = sets[sets.indexOf(set) + 1];
  if (next) return { queue, set: next };
  return firstIn(
    queues.filter((name) => name > queue),
    sets,
  );
}
