import { durationMs } from '../model/duration.js';
import { partitionsOf, type PartitionOptions } from '../model/partitions.js';
import { parseOwner, type Owner } from '../model/owner.js';
import type { CancelOptions } from '../owners/cancel-options.js';
import { CancelPreview } from '../owners/cancel-preview.js';
import type { SeenOwner } from '../owners/canceller.js';
import type { HistoryEntry } from '../owners/history.js';
import type { ListOptions, OwnerList, OwnerView } from '../owners/owner-reader.js';
import { Owners } from '../owners/owners.js';
import { ownersAt, purgeClosedIn, type OwnersAt, type OwnersOptions } from '../owners/owners-at.js';
import type { Receipt } from '../owners/receipt.js';
import { mergeReceipts } from './merge-receipts.js';
import { SpreadCanceller } from './spread-canceller.js';
import { SpreadReader } from './spread-reader.js';

const MOST_RESUMED = 100;

export interface PartitionedOwnersOptions extends OwnersOptions, PartitionOptions {
  readonly prefix?: string;
}

interface Spread {
  readonly canceller: SpreadCanceller;
  readonly reader: SpreadReader;
  readonly preview: CancelPreview;
}

function spreadOver(parts: readonly OwnersAt[]): Spread {
  const [canceller, reader] = [new SpreadCanceller(parts), new SpreadReader(parts)];
  const preview = new CancelPreview({
    get: (owner, page) => reader.get(owner, page),
    receipt: async (cancelId) => mergeReceipts(await canceller.receipts(cancelId)),
  });
  return { canceller, reader, preview };
}

/** `Owners`, over all partitions of a prefix. With one partition each call is that of `Owners`. */
export class PartitionedOwners extends Owners {
  private readonly parts: readonly OwnersAt[];
  private readonly spread?: Spread;

  constructor({ partitions, ...opts }: PartitionedOwnersOptions) {
    const [home, ...others] = partitionsOf({ ...opts, ...(partitions !== undefined && { partitions }) }).map(
      (partition) => ({ ...opts, prefix: partition.root, partition }),
    );
    super(home!);
    this.parts = [this.at, ...others.map(ownersAt)];
    if (others.length > 0) this.spread = spreadOver(this.parts);
  }

  override async cancel(owner: Owner | string, options?: CancelOptions, seen?: SeenOwner): Promise<Receipt> {
    if (!this.spread) return super.cancel(owner, options, seen);
    const canceller = options?.dryRun ? this.spread.preview : this.spread.canceller;
    return canceller.cancel(read(owner), options, seen);
  }

  override async cancelJob(queue: string, id: string, options?: CancelOptions): Promise<Receipt | undefined> {
    return this.spread
      ? this.spread.canceller.cancelJob(queue, id, options)
      : super.cancelJob(queue, id, options);
  }

  override async reopen(owner: Owner | string): Promise<{ readonly state: 'open'; readonly epoch: string }> {
    if (!this.spread) return super.reopen(owner);
    return { state: 'open', epoch: await this.spread.canceller.reopen(read(owner)) };
  }

  /** Each of them stands in every partition. */
  override async purgeClosed({
    olderThan = '1d',
  }: { readonly olderThan?: number | string } = {}): Promise<number> {
    const olderThanMs = durationMs('olderThan', olderThan);
    const purged = await Promise.all(this.parts.map((part) => purgeClosedIn(part, olderThanMs)));
    return Math.max(...purged);
  }

  override async get(
    owner: Owner | string,
    page?: { cursor?: string; limit?: number },
  ): Promise<OwnerView | undefined> {
    return this.spread ? this.spread.reader.get(read(owner), page) : super.get(owner, page);
  }

  override async list(options?: ListOptions): Promise<OwnerList> {
    return this.spread ? this.spread.reader.list(options) : super.list(options);
  }

  override async history(owner: Owner | string, from = 0, limit = 100): Promise<HistoryEntry[]> {
    return this.spread
      ? this.spread.reader.history(read(owner), from, limit)
      : super.history(owner, from, limit);
  }

  override async receipt(cancelId: string): Promise<Receipt | undefined> {
    if (!this.spread) return super.receipt(cancelId);
    return mergeReceipts(await this.spread.canceller.receipts(cancelId));
  }

  override async openReceipts(limit = 100): Promise<Receipt[]> {
    if (!this.spread) return super.openReceipts(limit);
    const found = await Promise.all((await this.open(limit)).map((cancelId) => this.receipt(cancelId)));
    return found.filter((receipt) => receipt !== undefined).toSorted((a, b) => a.at - b.at);
  }

  /** First the cancels that have not reached all partitions, then the clean-up in each. */
  override async resume(): Promise<number> {
    if (!this.spread) return super.resume();
    const spread = await this.spread.canceller.spreadAll();
    const open = await Promise.all(this.parts.map(resumeIn));
    return new Set([...spread, ...open.flat()]).size;
  }

  override async close(): Promise<void> {
    await Promise.all(this.parts.map(({ store }) => store.close()));
  }

  private async open(limit: number): Promise<string[]> {
    const open = await Promise.all([
      this.spread!.canceller.spreading(),
      ...this.parts.map(({ cleanUp }) => cleanUp.open(limit)),
    ]);
    return [...new Set(open.flat())].slice(0, limit);
  }
}

async function resumeIn({ cleanUp }: OwnersAt): Promise<string[]> {
  const open = await cleanUp.open(MOST_RESUMED);
  for (const cancelId of open) await cleanUp.pass(cancelId);
  return open;
}

function read(owner: Owner | string): Owner {
  return typeof owner === 'string' ? parseOwner(owner) : owner;
}
