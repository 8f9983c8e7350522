import { durationMs } from '../model/duration.js';
import { parseOwner, type Owner } from '../model/owner.js';
import type { CancelOptions } from './cancel-options.js';
import { CancelPreview } from './cancel-preview.js';
import type { Canceller, SeenOwner } from './canceller.js';
import type { CleanUp } from './clean-up.js';
import type { HistoryEntry } from './history.js';
import type { ListOptions, OwnerList, OwnerReader, OwnerView } from './owner-reader.js';
import type { OwnerStore } from './owner-store.js';
import { ownersAt, purgeClosedIn, type OwnersAt, type OwnersOptions } from './owners-at.js';
import type { Receipt } from './receipt.js';

const MOST_RESUMED = 100;

/** What can be asked of owners: cancel and reopen them, and see what they have and had. */
export class Owners {
  protected readonly at: OwnersAt;
  private readonly store: OwnerStore;
  private readonly cleanUp: CleanUp;
  private readonly canceller: Canceller;
  private readonly reader: OwnerReader;
  private readonly preview: CancelPreview;

  constructor(options: OwnersOptions) {
    this.at = ownersAt(options);
    ({ store: this.store, cleanUp: this.cleanUp, canceller: this.canceller, reader: this.reader } = this.at);
    this.preview = new CancelPreview(this.reader);
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
    const [, epoch = ''] = await this.canceller.reopen(read(owner));
    return { state: 'open', epoch };
  }

  /**
   * Forgets owners that were closed or reopened more than `olderThan` ago without ever having had a job, which makes room below `maxClosed`.
   * They would be forgotten after 30 days. Answers how many.
   */
  async purgeClosed({ olderThan = '1d' }: { readonly olderThan?: number | string } = {}): Promise<number> {
    return purgeClosedIn(this.at, durationMs('olderThan', olderThan));
  }

  /** Nothing for an owner that has no jobs and is not closed. */
  get(owner: Owner | string, page?: { cursor?: string; limit?: number }): Promise<OwnerView | undefined> {
    return this.reader.get(read(owner), page);
  }

  list(options?: ListOptions): Promise<OwnerList> {
    return this.reader.list(options);
  }

  history(owner: Owner | string, from = 0, limit = 100): Promise<HistoryEntry[]> {
    return this.reader.history(read(owner), from, limit);
  }

  receipt(cancelId: string): Promise<Receipt | undefined> {
    return this.reader.receipt(cancelId);
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
