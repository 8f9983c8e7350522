import { formatOwner, InvalidJobError, parseOwner } from '#core';
import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { KnownNames } from '../find/known-names.js';
import { Journal } from '../journal/journal.js';
import { MooringStore } from '../store/mooring-store.js';
import { SweepSettings } from '../sweeps/sweep-settings.js';
import { structuresFor } from './matching-jobs.js';
import { OperationBook, type KnownOperation } from './operation-book.js';
import { OperationPages } from './operation-pages.js';
import { OPERATIONS_LOCK } from './operation-worker.js';
import {
  isOver,
  viewOf,
  type OperationFilter,
  type OperationOrder,
  type OperationRecord,
  type OperationView,
} from './operation.js';

const PAGE = 50;
const TIME_DIGITS = 9;
const NOTHING = { seen: 0, matched: 0, done: 0, failed: 0, refused: 0, skipped: 0 };

/** Retries, cancels or removes many jobs in the background. Any process may start an operation; one that sweeps does it. */
@Injectable()
export class Operations {
  constructor(
    private readonly store: MooringStore,
    private readonly names: KnownNames,
    private readonly settings: SweepSettings,
    private readonly book: OperationBook,
    private readonly pages: OperationPages,
    private readonly journal: Journal,
  ) {}

  /** It is stored when this answers. */
  async start({ action, filter, dryRun = false, by, limitedTo }: OperationOrder): Promise<OperationView> {
    const checked = this.check({ action, filter, by });
    const nowMs = await this.store.now();
    const record: OperationRecord = {
      operationId: newOperationId(nowMs),
      action,
      filter: checked,
      dryRun,
      state: 'asked',
      ...NOTHING,
      samples: [],
      ...(dryRun && { groups: [] }),
      problems: [],
      by,
      ...(limitedTo && { limitedTo }),
      startedAt: new Date(nowMs).toISOString(),
      pending: [],
      isSeen: false,
    };
    await this.book.save(record);
    const { operationId } = record;
    this.journal.tell({
      event: 'operation.asked',
      by,
      operationId,
      action,
      filter: checked,
      dryRun,
      limitedTo,
    });
    return viewOf(record);
  }

  async get(operationId: string): Promise<OperationView | undefined> {
    const known = await this.book.find(operationId);
    return known && asSeen(known);
  }

  /** The newest first. `next` is null after the last page. */
  async list(from = 0): Promise<{ operations: OperationView[]; next: number | null }> {
    const { found, next } = await this.book.page(from, PAGE);
    return { operations: found.map(asSeen), next };
  }

  /** It ends after the page that it is at, and at once if no process is at it. Jobs that it has changed stay so. */
  async stop(operationId: string, by: string): Promise<OperationView | undefined> {
    const known = await this.book.find(operationId);
    if (!known || isOver(known.record)) return known && asSeen(known);
    await this.book.markStopped(operationId, by);
    this.journal.tell({ event: 'operation.stop-asked', by, operationId });
    await this.endIfIdle(operationId, by);
    return this.get(operationId);
  }

  /** Jobs that a process left pending are settled by the next one. */
  private async endIfIdle(operationId: string, by: string): Promise<void> {
    const lock = await this.store.take(OPERATIONS_LOCK, this.settings.lockMs);
    if (!lock) return;
    try {
      const { record } = (await this.book.find(operationId))!;
      if (!isOver(record) && record.pending.length === 0)
        await this.pages.end(record, 'stopped', `Stopped by ${by}.`, lock);
    } finally {
      await this.store.write([], { ...lock, lockMs: 0 }).catch(() => undefined);
    }
  }

  private check({ action, filter }: OperationOrder): OperationFilter {
    const { state, owner, before } = filter;
    this.names.checkQueue(filter);
    if (!structuresFor(action, state))
      throw new InvalidJobError(
        `No job in the state ${state} can be the subject of ${action}: retry takes failed jobs, cancel those that have not ended, ` +
          'remove completed and failed ones.',
      );
    const at = before === undefined ? undefined : Date.parse(before);
    if (Number.isNaN(at)) throw new InvalidJobError('before is a time in ISO 8601.');
    return {
      ...filter,
      ...(owner !== undefined && { owner: formatOwner(parseOwner(owner)) }),
      ...(at !== undefined && { before: new Date(at).toISOString() }),
    };
  }
}

/** Ids of later operations sort behind earlier ones. */
function newOperationId(nowMs: number): string {
  return `op-${nowMs.toString(36).padStart(TIME_DIGITS, '0')}-${randomBytes(5).toString('hex')}`;
}

function asSeen({ record, stoppedBy }: KnownOperation): OperationView {
  const view = viewOf(record);
  return stoppedBy === undefined || isOver(view) ? view : { ...view, state: 'stopping' };
}
