import { crc32 } from 'node:zlib';
import { InvalidJobError } from './errors.js';
import { formatOwner, parseOwner, type Owner } from './owner.js';

const MOST_PARTITIONS = 256;
/** What Redis hashes of a key that holds it. */
const HASH_TAG = /\{([^}]+)\}/;

export interface PartitionOptions {
  readonly prefix?: string;
  /** Over how many hash slots of a Cluster the jobs are spread, by their primary owner. It stays what it was at first. */
  readonly partitions?: number;
}

/** One of the parts that jobs are spread over. With one partition it is the prefix itself. */
export interface Partition {
  readonly at: number;
  readonly of: number;
  /** As the caller wrote it. */
  readonly prefix: string;
  /** The prefix of this partition's keys. */
  readonly root: string;
}

/** All partitions of a prefix. `bull` and `{bull}` in 2 are {bull~0} and {bull~1}; in 1 they stay as they are. */
export function partitionsOf({ prefix = 'bull', partitions = 1 }: PartitionOptions): Partition[] {
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > MOST_PARTITIONS) {
    throw new InvalidJobError(
      `partitions is a whole number from 1 to ${MOST_PARTITIONS}; got ${String(partitions)}.`,
    );
  }
  return Array.from({ length: partitions }, (_, at) => ({
    at,
    of: partitions,
    prefix,
    root: partitions === 1 ? prefix : rootOf(prefix, at),
  }));
}

/** The prefixes under which BullMQ's own classes, `QueueEvents` for one, find the keys. */
export function partitionPrefixes(opts: PartitionOptions): string[] {
  return partitionsOf(opts).map(({ root }) => root);
}

function rootOf(prefix: string, at: number): string {
  if (!HASH_TAG.test(prefix)) return `{${prefix}~${at}}`;
  return prefix.replace(HASH_TAG, (_, tag: string) => `{${tag}~${at}}`);
}

/** The partition of an owner's jobs. It must never change: jobs are found by it. */
export function partitionOfOwner(owner: Owner | string, of: number): number {
  return partitionOfText(formatOwner(typeof owner === 'string' ? parseOwner(owner) : owner), of);
}

export function partitionOfText(text: string, of: number): number {
  return crc32(text) % of;
}
