import { crc32 } from 'node:zlib';
import { formatOwner, InvalidJobError, parseOwner, type Owner } from '#core';
import type { PartOptions } from '#core/parts';
import { checkNumber } from './number-of-partitions.js';

const MOST_PARTITIONS = 256;
/** What Redis hashes of a key that holds it. */
const HASH_TAG = /\{([^}]+)\}/;

export interface PartitionOptions {
  readonly prefix?: string;
  /** Over how many hash slots of a Cluster the jobs are spread, by their primary owner. It stays what it was at first. */
  readonly partitions?: number;
}

/** The prefixes under which BullMQ's own classes, `QueueEvents` for one, find the keys. `bull` and `{bull}` in 2 are {bull~0} and {bull~1}. */
export function partitionPrefixes({ prefix = 'bull', partitions = 1 }: PartitionOptions): string[] {
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > MOST_PARTITIONS) {
    throw new InvalidJobError(
      `partitions is a whole number from 1 to ${MOST_PARTITIONS}; got ${String(partitions)}.`,
    );
  }
  if (partitions === 1) return [prefix];
  return Array.from({ length: partitions }, (_, at) => prefixOf(prefix, at));
}

function prefixOf(prefix: string, at: number): string {
  if (!HASH_TAG.test(prefix)) return `{${prefix}~${at}}`;
  return prefix.replace(HASH_TAG, (_, tag: string) => `{${tag}~${at}}`);
}

/** The options of the core's class for each partition. The only partition of a prefix is the prefix itself. */
export function optionsOfEach<Options extends PartitionOptions>({
  partitions = 1,
  ...options
}: Options): (Omit<Options, 'partitions'> & PartOptions & { readonly prefix: string })[] {
  const { prefix = 'bull' } = options;
  const checkPart = checkNumber(prefix, partitions);
  return partitionPrefixes({ prefix, partitions }).map((root) => ({
    ...options,
    prefix: root,
    ...(partitions > 1 && { checkPart }),
  }));
}

/** The partition of an owner's jobs. It must never change: jobs are found by it. */
export function partitionOfOwner(owner: Owner | string, of: number): number {
  return partitionOfText(formatOwner(parseOwner(owner)), of);
}

export function partitionOfText(text: string, of: number): number {
  return crc32(text) % of;
}
