import { Owners, type OwnersOptions } from '#core';
import { ownersAt, type OwnersAccess, type OwnersAt } from '#core/parts';
import { optionsOfEach, type PartitionOptions } from '../model/partitions.js';
import { SpreadCanceller } from './spread-canceller.js';
import { SpreadCleanUp } from './spread-clean-up.js';
import { SpreadReader } from './spread-reader.js';
import { UnspreadCancels } from './unspread-cancels.js';

export interface PartitionedOwnersOptions extends OwnersOptions, PartitionOptions {
  readonly prefix?: string;
}

/** `Owners`, over all partitions of a prefix. */
export class PartitionedOwners extends Owners {
  constructor(options: PartitionedOwnersOptions) {
    const parts = optionsOfEach(options).map((opts) => ownersAt(opts));
    super(options, parts.length === 1 ? parts[0] : spreadOver(parts));
  }
}

function spreadOver(parts: readonly OwnersAt[]): OwnersAccess {
  const reader = new SpreadReader(parts);
  const unspread = new UnspreadCancels(parts);
  const cleanUp = new SpreadCleanUp(parts, unspread);
  const canceller = new SpreadCanceller(parts, { reader, unspread, cleanUp });
  return { canceller, cleanUp, reader, store: storesOf(parts) };
}

function storesOf(parts: readonly OwnersAt[]): OwnersAccess['store'] {
  return {
    // An owner that is closed stands in every partition.
    purgeClosed: async (olderThan) =>
      Math.max(...(await Promise.all(parts.map(({ store }) => store.purgeClosed(olderThan))))),
    close: async () => {
      await Promise.all(parts.map(({ store }) => store.close()));
    },
  };
}
