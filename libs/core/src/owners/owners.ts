import type { ConnectionOptions, QueueBaseOptions } from 'bullmq';
import { createMooredBackend, type DurableOptions } from '../backend/moored-backend.js';
import { durationMs } from '../model/duration.js';
import { ClosedOwnersFullError, InvalidJobError } from '../model/errors.js';
import { parseOwner, type Owner } from '../model/owner.js';
import type { CancelOptions } from './cancel-options.js';
import { CancelPreview } from './cancel-preview.js';
import { Canceller, type CancelLimits, type SeenOwner } from './canceller.js';
import { CleanUp } from './clean-up.js';
import { readHistory, type HistoryEntry } from './history.js';
import { OwnerReader, type ListOptions, type OwnerView } from './owner-reader.js';
import { readReceipt, type Receipt } from './receipt.js';
import { OwnerStore } from './owner-store.js';
import { unescapeText } from '../scripts/escape.js';

const MOST_RESUMED = 100;
const MOST_PURGED_IN_ONE_STEP = 200;
const MAX_CLOSED = 100_000;
/** Receipts say what runs of now were told: they outlive these. */
const LEAST_RECEIPT_KEEP_MS = 60_000;

export interface OwnersOptions extends DurableOptions {
  readonly connection: ConnectionOptions;
  readonly prefix?: string;
  /** How long receipts of cancels are kept, and the history of what was removed. Default 7 days; the same for all. */
  readonly receiptKeep?: number | string;
  /** How many owners may be closed at a time without ever having had a job; more are refused. Default 100,000; the same for all. */
  readonly maxClosed?: number;
}

/** What can be asked of owners: cancel and reopen them, and see what they have and had. */
export class Owners {
  private readonly store: OwnerStore;
  private readonly cleanUp: CleanUp;
  private readonly canceller: Canceller;
  private readonly reader: OwnerReader;
  private readonly limits: CancelLimits;
  private readonly preview: CancelPreview;

  constructor(options: OwnersOptions) {
    const { connection, prefix = 'bull', receiptKeep = '7d', maxClosed = MAX_CLOSED, durability } = options;
    this.limits = { receiptKeepMs: durationMs('receiptKeep', receiptKeep), maxClosed };
    checkLimits(this.limits);
    const backend = createMooredBackend('owners', { connection, prefix, durability } as QueueBaseOptions);
    // Every call answers with its own error.
    backend.on('error', () => undefined);
    this.store = new OwnerStore(backend);
    this.cleanUp = new CleanUp(this.store);
    this.canceller = new Canceller(this.store, this.cleanUp, this.limits);
    this.reader = new OwnerReader(this.store);
    this.preview = new CancelPreview(this.store, this.reader);
  }

  /** After the answer no job starts that was enqueued for the owner before, and none of its runs has a result. */
  cancel(owner: Owner | string, options?: CancelOptions, seen?: SeenOwner): Promise<Receipt> {
    const canceller = options?.dryRun ? this.preview : this.canceller;
    return canceller.cancel(read(owner), options, seen);
  }

  /** One job, and those below it in its flow; nothing for a job that has ended or has no owner. */
  cancelJob(queue: string, id: string, options?: CancelOptions): Promise<Receipt | undefined> {
    return this.canceller.cancelJob(queue, id, options);
  }

  /** A closed owner takes jobs again. Its old jobs stay cancelled. */
  async reopen(owner: Owner | string): Promise<{ readonly state: 'open'; readonly epoch: string }> {
    const name = this.store.nameOf(read(owner));
    const args = [name, this.limits.maxClosed];
    const [word, epoch = ''] = await this.store.run<string[]>('reopen', this.store.recordOf(name), args);
    if (word === 'full') throw new ClosedOwnersFullError(unescapeText(name));
    return { state: 'open', epoch };
  }

  /**
   * Forgets owners that were closed or reopened more than `olderThan` ago without ever having had a job, which makes room below `maxClosed`.
   * They would be forgotten after 30 days. Answers how many.
   */
  async purgeClosed({ olderThan = '1d' }: { readonly olderThan?: number | string } = {}): Promise<number> {
    const args = [durationMs('olderThan', olderThan), MOST_PURGED_IN_ONE_STEP];
    let purged = 0;
    for (let last = MOST_PURGED_IN_ONE_STEP; last === MOST_PURGED_IN_ONE_STEP; purged += last)
      last = await this.store.run<number>('purgeClosed', this.store.recordOf(''), args);
    return purged;
  }

  /** Nothing for an owner that has no jobs and is not closed. */
  get(owner: Owner | string, page?: { cursor?: string; limit?: number }): Promise<OwnerView | undefined> {
    return this.reader.get(read(owner), page);
  }

  list(options?: ListOptions): ReturnType<OwnerReader['list']> {
    return this.reader.list(options);
  }

  async history(owner: Owner | string, from = 0, limit = 100): Promise<HistoryEntry[]> {
    const key = `${this.store.root}~history~${this.store.nameOf(read(owner))}`;
    return (await this.store.linesOf(key, from, from + limit - 1)).map(readHistory);
  }

  async receipt(cancelId: string): Promise<Receipt | undefined> {
    const fields = await this.store.fieldsOf(this.store.receiptOf(cancelId));
    return fields['owner'] === undefined ? undefined : readReceipt(cancelId, fields);
  }

  /** Cancels whose clean-up is not over, the oldest first. */
  async openReceipts(limit = 100): Promise<Receipt[]> {
    const found = await Promise.all(
      (await this.cleanUp.open(limit)).map((cancelId) => this.receipt(cancelId)),
    );
    return found.filter((receipt) => receipt !== undefined);
  }

  /** Finishes the clean-up of cancels whose process has died. Any number of processes may call it. */
  async resume(): Promise<number> {
    const open = await this.cleanUp.open(MOST_RESUMED);
    for (const cancelId of open) await this.cleanUp.pass(cancelId);
    return open.length;
  }

  close(): Promise<void> {
    return this.store.close();
  }
}

function read(owner: Owner | string): Owner {
  return typeof owner === 'string' ? parseOwner(owner) : owner;
}

function checkLimits({ receiptKeepMs, maxClosed }: CancelLimits): void {
  if (receiptKeepMs < LEAST_RECEIPT_KEEP_MS) throw new InvalidJobError('receiptKeep is at least a minute.');
  if (!Number.isInteger(maxClosed) || maxClosed < 1)
    throw new InvalidJobError('maxClosed is a whole number of at least 1.');
}
