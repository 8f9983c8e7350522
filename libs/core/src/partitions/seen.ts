import type { SeenOwner } from '../owners/canceller.js';
import type { OwnerRecord } from '../owners/owner-reader.js';

const NO_RECORD = '-';

/** Epoch and newest entry of an owner in all its partitions, as one text each. */
export function seenEverywhere(records: readonly (OwnerRecord | undefined)[]): SeenOwner {
  return {
    epoch: records.map((record) => record?.epoch ?? NO_RECORD).join(),
    wanted: records.map((record) => record?.wanted ?? NO_RECORD).join(),
  };
}

export function seenIn({ epoch, wanted }: SeenOwner, of: number): SeenOwner[] {
  const [epochs, entries] = [epoch.split(','), wanted.split(',')];
  return Array.from({ length: of }, (_, i) => ({
    epoch: epochs[i] ?? NO_RECORD,
    wanted: entries[i] ?? NO_RECORD,
  }));
}
