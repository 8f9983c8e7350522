import { partitionsOf, type PartitionOptions } from '../model/partitions.js';
import { Slots, type SlotsOptions, type SlotSummary, type SlotView } from '../slots/slots.js';
import { partitionOfSlot } from './job-place.js';
import { cursorBehind, readPartCursor } from './part-cursor.js';

export interface PartitionedSlotsOptions extends SlotsOptions, PartitionOptions {
  readonly prefix?: string;
}

/** `Slots`, over all partitions of a prefix. All that belongs to one key is in one of them. */
export class PartitionedSlots extends Slots {
  private readonly others: readonly Slots[];

  constructor({ partitions, ...opts }: PartitionedSlotsOptions) {
    const [home, ...others] = partitionsOf({ ...opts, ...(partitions !== undefined && { partitions }) }).map(
      (partition) => ({ ...opts, prefix: partition.root, partition }),
    );
    super(home!);
    this.others = others.map((options) => new Slots(options));
  }

  override async get(key: string): Promise<SlotView | undefined> {
    const at = partitionOfSlot(key, this.count);
    return at === 0 ? super.get(key) : this.others[at - 1]!.get(key);
  }

  /** The pages come partition by partition, and may be empty before the last. */
  override async list({ cursor, limit }: { cursor?: string; limit?: number } = {}): Promise<{
    slots: readonly SlotSummary[];
    cursor?: string;
  }> {
    const { at, cursor: there } = this.count === 1 ? { at: 0, cursor } : readPartCursor(cursor);
    const page = { ...(there !== undefined && { cursor: there }), ...(limit !== undefined && { limit }) };
    if (this.count === 1) return super.list(page);
    const { slots, cursor: next } = await (at === 0 ? super.list(page) : this.others[at - 1]!.list(page));
    const behind = cursorBehind(at, this.count, next);
    return { slots, ...(behind !== undefined && { cursor: behind }) };
  }

  override async setLimit(key: string, limit: number): Promise<number | undefined> {
    const at = partitionOfSlot(key, this.count);
    return at === 0 ? super.setLimit(key, limit) : this.others[at - 1]!.setLimit(key, limit);
  }

  override async close(): Promise<void> {
    await Promise.all([super.close(), ...this.others.map((other) => other.close())]);
  }

  private get count(): number {
    return this.others.length + 1;
  }
}
