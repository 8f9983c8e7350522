import { Owners, type OwnersOptions } from '#core';
import { ownersAt, type OwnersAccess, type OwnersAt } from '#core/parts';
import { optionsOfEach, type PartitionOptions } from '../model/partitions.js';
import { SpreadCanceller } from './spread-canceller.js';
import { SpreadCleanUp } from './spread-clean-up.js';
import { SpreadReader } from './spread-reader.js';

export type PartitionedOwnersOptions = OwnersOptions & PartitionOptions;

/** `Owners`, over all partitions of a prefix. */
export class PartitionedOwners extends Owners {
  constructor(options: PartitionedOwnersOptions) {
    const parts = optionsOfEach(options).map((opts) => ownersAt(opts));
    super(options, parts.length === 1 ? parts[0] : spreadOver(parts));
  }
}

function spreadOver(parts: readonly OwnersAt[]): OwnersAccess {
  const reader = new SpreadReader(parts);
  const cleanUp = new SpreadCleanUp(parts);
  const canceller = new SpreadCanceller(parts, reader, cleanUp);
  const inAll = <T>(ask: (at: OwnersAt) => Promise<T>) => Promise.all(parts.map(ask));
  const store = {
    // An owner that is closed stands in every partition.
    purgeClosed: async (olderThan: number | string) =>
      Math.max(...(await inAll((part) => part.store.purgeClosed(olderThan)))),
    takeLate: async () => Math.max(...(await inAll((part) => part.store.takeLate()))),
    close: async () => void (await inAll((part) => part.store.close())),
  };
  return { canceller, cleanUp, reader, store };
}
