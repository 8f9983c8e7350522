import type { SeenOwner } from '#core/parts';

const NO_RECORD: SeenOwner = { epoch: '-', wanted: '-' };

type Records = readonly (SeenOwner | undefined)[];

/** Epoch and newest entry of an owner in all its partitions, as one text each. */
export function seenEverywhere(records: Records): SeenOwner {
  const seen = records.map((record) => record ?? NO_RECORD);
  return { epoch: seen.map(({ epoch }) => epoch).join(), wanted: seen.map(({ wanted }) => wanted).join() };
}

export function seenIn({ epoch, wanted }: SeenOwner, of: number): SeenOwner[] {
  const [epochs, entries] = [epoch.split(','), wanted.split(',')];
  return Array.from({ length: of }, (_, i) => ({
    epoch: epochs[i] ?? NO_RECORD.epoch,
    wanted: entries[i] ?? NO_RECORD.wanted,
  }));
}

/** Whether the owner has got an entry since, or another epoch. */
export function hasMoved(records: Records, seen: readonly SeenOwner[]): boolean {
  return records.some((record = NO_RECORD, i) => {
    return record.epoch !== seen[i]!.epoch || record.wanted !== seen[i]!.wanted;
  });
}
