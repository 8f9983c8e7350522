import { parseOwner, type Owner } from '../model/owner.js';
import type { CancelOptions } from './cancel-options.js';
import { CancelPreview } from './cancel-preview.js';
import type { SeenOwner } from './canceller.js';
import type { HistoryEntry } from './history.js';
import type { ListOptions, OwnerList, OwnerView } from './owner-reader.js';
import { ownersAt, type OwnersAccess, type OwnersOptions } from './owners-at.js';
import type { Receipt } from './receipt.js';

const MOST_RESUMED = 100;

/** What can be asked of owners: cancel and reopen them, and see what they have and had. */
export class Owners {
  private readonly preview: CancelPreview;

  constructor(
    options: OwnersOptions,
    private readonly at: OwnersAccess = ownersAt(options),
  ) {
    this.preview = new CancelPreview(at.reader);
  }

  /** After the answer no job starts that was enqueued for the owner before, and none of its runs has a result. */
  cancel(owner: Owner | string, options?: CancelOptions, seen?: SeenOwner): Promise<Receipt> {
    const canceller = options?.dryRun ? this.preview : this.at.canceller;
    return canceller.cancel(parseOwner(owner), options, seen);
  }

  /** One job, and those below it in its flow; nothing for a job that has ended or has no owner. */
  cancelJob(queue: string, id: string, options?: CancelOptions): Promise<Receipt | undefined> {
    return this.at.canceller.cancelJob(queue, id, options);
  }

  /** A closed owner takes jobs again. Its old jobs stay cancelled. */
  async reopen(owner: Owner | string): Promise<{ readonly state: 'open'; readonly epoch: string }> {
    const [, epoch = ''] = await this.at.canceller.reopen(parseOwner(owner));
    return { state: 'open', epoch };
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

  list(options?: ListOptions): Promise<OwnerList> {
    return this.at.reader.list(options);
  }

  history(owner: Owner | string, from = 0, limit = 100): Promise<HistoryEntry[]> {
    return this.at.reader.history(parseOwner(owner), from, limit);
  }

  receipt(cancelId: string): Promise<Receipt | undefined> {
    return this.at.reader.receipt(cancelId);
  }

  /** Cancels whose clean-up is not over, the oldest first. */
  async openReceipts(limit = 100): Promise<Receipt[]> {
    const open = await this.at.cleanUp.open(limit);
    const found = await Promise.all(open.map((cancelId) => this.receipt(cancelId)));
    return found.filter((receipt) => receipt !== undefined).toSorted((a, b) => a.at - b.at);
  }

  /** Finishes the clean-up of cancels whose process has died. Any number of processes may call it. */
  async resume(): Promise<number> {
    const open = await this.at.cleanUp.open(MOST_RESUMED);
    for (const cancelId of open) await this.at.cleanUp.pass(cancelId);
    return open.length;
  }

  close(): Promise<void> {
    return this.at.store.close();
  }
}
