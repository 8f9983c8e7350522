import type { ConnectionOptions, QueueBaseOptions } from 'bullmq';
import { createMooredBackend } from '../backend/create-backend.js';
import type { DurableOptions } from '../backend/durable-writes.js';
import type { PartOptions } from '../backend/partition-check.js';
import { durationMs } from '../model/duration.js';
import { InvalidJobError } from '../model/errors.js';
import { parseOwner, type Owner } from '../model/owner.js';
import type { CancelOptions } from './cancel-options.js';
import { CancelPreview } from './cancel-preview.js';
import { Canceller, type CancelLimits, type SeenOwner } from './canceller.js';
import { CleanUp, passAll } from './clean-up.js';
import type { HistoryEntry } from './history.js';
import { OwnerReader, type ListOptions, type OwnerList, type OwnerView } from './owner-reader.js';
import type { ReceiptList, ReceiptListOptions } from './owner-reader.js';
import { OwnerStore } from './owner-store.js';
import type { Receipt } from './receipt.js';

const MAX_CLOSED = 100_000;
/** Receipts say what runs of now were told: they outlive these. */
const LEAST_RECEIPT_KEEP_MS = 60_000;

export interface OwnersOptions extends DurableOptions, PartOptions {
  readonly connection: ConnectionOptions;
  /** How long receipts of cancels are kept, and the history of what was removed. Default 7 days; the same for all. */
  readonly receiptKeep?: number | string;
  /** How many owners may be closed at a time without ever having had a job; more are refused. Default 100,000; the same for all. */
  readonly maxClosed?: number;
  /** Lists each cancel of an owner until other services were told of it. Default false. */
  readonly outbox?: boolean;
}

export interface ReopenOptions {
  readonly askedAt?: number | undefined;
}

export interface Reopened {
  readonly state: 'open';
  readonly epoch: string;
  /** The owner was cancelled after the reopening was asked for: nothing was written. */
  readonly late?: true;
}

/** What `Owners` asks: of one prefix, or of several partitions together. */
export interface OwnersAccess {
  readonly store: Pick<OwnerStore, 'purgeClosed' | 'takeLate' | 'close'>;
  readonly cleanUp: Pick<CleanUp, 'open' | 'pass'>;
  readonly canceller: Pick<Canceller, 'cancel' | 'cancelJob' | 'reopen'>;
  readonly reader: Pick<OwnerReader, 'get' | 'underWay' | 'list' | 'history' | 'receipt' | 'listReceipts'>;
}

/** What can be asked of owners: cancel and reopen them, and see what they have and had. */
export class Owners {
  constructor(
    options: OwnersOptions,
    private readonly at: OwnersAccess = ownersAt(options),
  ) {}

  /** After the answer no job starts that was enqueued for the owner before, and none of its runs has a result. */
  cancel(owner: Owner | string, options?: CancelOptions, seen?: SeenOwner): Promise<Receipt> {
    const canceller = options?.dryRun ? new CancelPreview(this.at.reader) : this.at.canceller;
    return canceller.cancel(parseOwner(owner), options, seen);
  }

  /** One job, and those below it in its flow; nothing for a job that has ended or has no owner. */
  cancelJob(queue: string, id: string, options?: CancelOptions): Promise<Receipt | undefined> {
    return this.at.canceller.cancelJob(queue, id, options);
  }

  /**
   * A closed owner takes jobs again. Its old jobs stay cancelled. With `askedAt`, when that was asked for, ms by the store's clock, an owner
   * that was cancelled later stays as it is.
   */
  async reopen(owner: Owner | string, { askedAt }: ReopenOptions = {}): Promise<Reopened> {
    const [word, epoch = ''] = await this.at.canceller.reopen(parseOwner(owner), { askedAt });
    return { state: 'open', epoch, ...(word === 'late' && { late: true }) };
  }

  /**
   * From now on, and for 30 days, cancels are remembered for jobs with `askedAt`, as long as their receipts: call it at the start of a program
   * that adds such jobs, and now and then. Answers the store's time, ms, with a fraction.
   */
  async takeLate(): Promise<number> {
    return (await this.at.store.takeLate()) / 1_000;
  }

  /**
   * Forgets owners that were closed or reopened more than `olderThan` ago without ever having had a job, which makes room below `maxClosed`.
   * They would be forgotten after 30 days. Answers how many.
   */
  purgeClosed({ olderThan = '1d' }: { readonly olderThan?: number | string } = {}): Promise<number> {
    return this.at.store.purgeClosed(olderThan);
  }

  /** Nothing for an owner that has no jobs and is not closed. */
  get(owner: Owner | string, page?: { cursor?: string; limit?: number }): Promise<OwnerView | undefined> {
    return this.at.reader.get(parseOwner(owner), page);
  }

  /** How many of its jobs run, and how many are being removed. The cost follows the number of its jobs. */
  underWay(owner: Owner | string): ReturnType<OwnerReader['underWay']> {
    return this.at.reader.underWay(parseOwner(owner));
  }

  list(options?: ListOptions): Promise<OwnerList> {
    return this.at.reader.list(options);
  }

  history(owner: Owner | string, from = 0, limit = 100): Promise<HistoryEntry[]> {
    return this.at.reader.history(parseOwner(owner), from, limit);
  }

  receipt(cancelId: string): Promise<Receipt | undefined> {
    return this.at.reader.receipt(cancelId);
  }

  /** The receipts that are kept, the newest first, a page at a time. */
  listReceipts(options?: ReceiptListOptions): Promise<ReceiptList> {
    return this.at.reader.listReceipts(options);
  }

  /** Cancels whose clean-up is not over, the oldest first. */
  async openReceipts(limit = 100): Promise<Receipt[]> {
    const open = await this.at.cleanUp.open(limit);
    const found = await Promise.all(open.map((cancelId) => this.receipt(cancelId)));
    return found.filter((receipt) => receipt !== undefined).toSorted((a, b) => a.at - b.at);
  }

  /** Goes on with the cancels that are not done. Any number of processes may call it. Answers how many there were. */
  resume(): Promise<number> {
    return passAll(this.at.cleanUp);
  }

  close(): Promise<void> {
    return this.at.store.close();
  }
}

export type OwnersAt = ReturnType<typeof ownersAt>;

/** Of one prefix. */
export function ownersAt(options: OwnersOptions) {
  const { prefix = 'bull', receiptKeep = '7d', maxClosed = MAX_CLOSED, outbox = false, ...rest } = options;
  const limits = { receiptKeepMs: durationMs('receiptKeep', receiptKeep), maxClosed, outbox };
  checkLimits(limits);
  const backend = createMooredBackend('owners', { ...rest, prefix } as QueueBaseOptions);
  const store = new OwnerStore(backend);
  const cleanUp = new CleanUp(store);
  return { store, cleanUp, canceller: new Canceller(store, cleanUp, limits), reader: new OwnerReader(store) };
}

function checkLimits({ receiptKeepMs, maxClosed }: CancelLimits): void {
  if (receiptKeepMs < LEAST_RECEIPT_KEEP_MS) throw new InvalidJobError('receiptKeep is at least a minute.');
  if (!Number.isInteger(maxClosed) || maxClosed < 1)
    throw new InvalidJobError('maxClosed is a whole number of at least 1.');
}
