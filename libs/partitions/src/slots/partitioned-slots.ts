import { Slots, type SlotsOptions, type SlotSummary } from '#core';
import { askAll, askOne } from '../model/ask-all.js';
import { partitionOfSlot } from '../model/job-place.js';
import { nothing } from '../model/merges.js';
import { cursorBehind, readPartCursor } from '../model/part-cursor.js';
import { optionsOfEach, type PartitionOptions } from '../model/partitions.js';

export interface PartitionedSlotsOptions extends SlotsOptions, PartitionOptions {
  readonly prefix?: string;
}

/** `Slots`, over all partitions of a prefix. All that belongs to one key is in one of them. */
export class PartitionedSlots extends Slots {
  readonly parts: readonly Slots[];

  constructor(options: PartitionedSlotsOptions) {
    const [own, ...others] = optionsOfEach(options);
    super(own!);
    this.parts = [this, ...others.map((opts) => new Slots(opts))];
  }

  /** The pages come partition by partition, and may be empty before the last. */
  override async list({ cursor, limit }: { cursor?: string; limit?: number } = {}): Promise<{
    slots: readonly SlotSummary[];
    cursor?: string;
  }> {
    const isWhole = this.parts.length === 1;
    const { at, cursor: from } = isWhole ? { at: 0, cursor } : readPartCursor(cursor);
    const page = { ...(from !== undefined && { cursor: from }), ...(limit !== undefined && { limit }) };
    const { slots, cursor: next } = await Slots.prototype.list.call(this.parts[at]!, page);
    const behind = isWhole ? next : cursorBehind(at, this.parts.length, next);
    return { slots, ...(behind !== undefined && { cursor: behind }) };
  }
}

askAll<Slots>(PartitionedSlots, { close: nothing });
askOne<Slots>(
  PartitionedSlots,
  ['get', 'setLimit'],
  ({ parts }: PartitionedSlots, key) => parts[partitionOfSlot(key, parts.length)],
);
