import { Slots, type SlotsOptions } from '#core';
import { askAll, askOne } from '../model/ask-all.js';
import { partitionOfSlot } from '../model/job-place.js';
import { nothing } from '../model/merges.js';
import { optionsOfEach, type PartitionOptions } from '../model/partitions.js';

export type PartitionedSlotsOptions = SlotsOptions & PartitionOptions;

/** `Slots`, over all partitions of a prefix. All that belongs to one key is in one of them. */
export class PartitionedSlots extends Slots {
  readonly parts: readonly Slots[];

  constructor(options: PartitionedSlotsOptions) {
    const [own, ...others] = optionsOfEach(options);
    super(own!);
    this.parts = [this, ...others.map((opts) => new Slots(opts))];
  }
}

askAll<Slots>(PartitionedSlots, { close: nothing });
askOne<Slots>(
  PartitionedSlots,
  ['get', 'setLimit', 'setRate'],
  ({ parts }: PartitionedSlots, key) => parts[partitionOfSlot(key, parts.length)],
);
