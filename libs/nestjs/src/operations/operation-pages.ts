import { Injectable } from '@nestjs/common';
import { KnownNames } from '../find/known-names.js';
import { Journal } from '../journal/journal.js';
import { MooringStore, type StoreLock } from '../store/mooring-store.js';
import { inLanes } from '../sweeps/in-lanes.js';
import { JobActions, type Settled } from './job-actions.js';
import { MatchingJobs, type FoundJobs } from './matching-jobs.js';
import type { KnownOperation } from './operation-book.js';
import { OperationBook } from './operation-book.js';
import { withCounted } from './job-groups.js';
import { viewOf, type OperationRecord, type Problem } from './operation.js';

const SAMPLES = 20;
const PROBLEMS_KEPT = 100;

type End = 'done' | 'stopped' | 'failed';

/**
 * Does an operation, a page a turn. The jobs of a page are stored as pending before the first of them is changed, and settled jobs leave
 * the pending ones together with their count: a process that dies in between leaves pending jobs, which the next one settles again. That
 * changes no job twice.
 */
@Injectable()
export class OperationPages {
  constructor(
    private readonly store: MooringStore,
    private readonly book: OperationBook,
    private readonly matching: MatchingJobs,
    private readonly actions: JobActions,
    private readonly names: KnownNames,
    private readonly journal: Journal,
  ) {}

  async turn(
    { record, stoppedBy }: KnownOperation,
    limit: number,
    lock: StoreLock,
    signal: AbortSignal,
  ): Promise<void> {
    // Left by a process that died: whether they were changed is not known until they are settled.
    if (record.pending.length > 0) return this.settle(record, lock, signal);
    if (stoppedBy !== undefined) return this.end(record, 'stopped', `Stopped by ${stoppedBy}.`, lock);
    if (record.isSeen) return this.endSeen(record, lock);
    const found = withFound(record, await this.matching.next(record, limit));
    await this.book.save(found, lock);
    if (found.pending.length > 0) await this.settle(found, lock, signal);
  }

  /** A kind that is misspelt has no jobs: that is no success. */
  private endSeen(record: OperationRecord, lock: StoreLock): Promise<void> {
    const wrong = record.matched === 0 ? this.names.whyNoKind(record.filter) : undefined;
    return this.end(record, wrong === undefined ? 'done' : 'failed', wrong, lock);
  }

  async end(record: OperationRecord, state: End, why: string | undefined, lock: StoreLock): Promise<void> {
    const endedAt = new Date(await this.store.now()).toISOString();
    const ended = { ...record, state, endedAt, pending: [], ...(why !== undefined && { why }) };
    await this.book.save({ ...ended, position: undefined }, lock);
    const { samples: _, problems: __, groups: ___, ...facts } = viewOf(ended);
    this.journal.tell({ ...facts, event: `operation.${state}` });
  }

  /** When the signal aborts, the rest stays pending. */
  private async settle(record: OperationRecord, lock: StoreLock, signal: AbortSignal): Promise<void> {
    const { pending } = record;
    const settled = await inLanes(pending, signal, (job) => this.actions.settle(record, job));
    await this.book.save(withSettled(record, settled), lock);
  }
}

function withFound(record: OperationRecord, { jobs, seen, position }: FoundJobs): OperationRecord {
  const samples = jobs.slice(0, SAMPLES - record.samples.length).map((job) => {
    const { id, kind, queue, owners, state, error } = job;
    return { id, kind, queue, owners, state, error: error?.slice(0, 500) ?? null };
  });
  const pending = jobs.map(({ id, queue, set, at }) => ({ id, queue, set, at }));
  return {
    ...record,
    state: 'running',
    seen: record.seen + seen,
    matched: record.matched + jobs.length,
    samples: [...record.samples, ...samples],
    ...(record.groups && { groups: withCounted(record.groups, jobs) }),
    pending: record.dryRun ? [] : pending,
    position,
    isSeen: position === undefined,
  };
}

/** @param settled in the order of the pending jobs; nothing for one that was not begun */
function withSettled(record: OperationRecord, settled: readonly (Settled | undefined)[]): OperationRecord {
  const count = (word: string): number =>
    settled.filter((each) => (typeof each === 'object' ? each.outcome : each) === word).length;
  const problems = record.pending.flatMap(({ id }, i): Problem[] => {
    const each = settled[i];
    return typeof each === 'object' ? [{ id, ...each }] : [];
  });
  return {
    ...record,
    done: record.done + count('done'),
    refused: record.refused + count('refused'),
    failed: record.failed + count('failed'),
    skipped: record.skipped + count('skipped'),
    problems: [...record.problems, ...problems].slice(0, PROBLEMS_KEPT),
    pending: record.pending.filter((_, i) => settled[i] === undefined),
  };
}
