import type { JobsOptions } from 'bullmq';
import { InvalidJobError } from '#core';
import { newJobId } from '#core/parts';
import { partitionOfOwner, partitionOfText } from './partitions.js';

/** The ids that jobs get here: that of one partition, and the number of theirs. */
const NAMES_ITS_PARTITION = /^[\w-]{11}\.[0-9a-z]+@(\d+)$/;

let turn = 0;

/** The partition that an id names. Ids of the caller's name none. */
export function partitionNamedBy(jobId: string): number | undefined {
  const number = NAMES_ITS_PARTITION.exec(jobId)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** The id of a new job of a partition. */
export function jobIdIn(partition: number, given?: string): string {
  if (given === undefined) return `${newJobId()}@${partition}`;
  const named = partitionNamedBy(given);
  if (named === undefined || named === partition) return given;
  throw new InvalidJobError(
    `The jobId "${given}" names partition ${named}, and the job belongs to ${partition}.`,
  );
}

/** The partition of a slot, after what stands in braces in its key, or else after the key. */
export function partitionOfSlot(key: string, of: number): number {
  return partitionOfText(/\{([^}]+)\}/.exec(key)?.[1] ?? key, of);
}

/**
 * The holders of a slot are all in the partition of its key, or more than its limit could run. What stands in braces decides, as in the
 * keys of a Cluster: `{driver:7}/gpu` is in the partition of the owner driver:7.
 */
export function checkSlot({ slot }: JobsOptions, partition: number, of: number): void {
  if (!slot) return;
  const { key } = slot;
  const home = partitionOfSlot(key, of);
  if (home === partition) return;
  throw new InvalidJobError(
    `The slot "${key}" belongs to partition ${home}, and the job to ${partition}. With several partitions a slot is named after ` +
      'the first owner of its jobs: trip:42, or {trip:42}/render if it has more than one.',
  );
}

/**
 * Where a new job goes: to its parent, or to its primary owner; without either it may go anywhere.
 * @param prefixes of all partitions
 */
export function placeOf(opts: JobsOptions, prefixes: readonly string[]): number {
  const of = prefixes.length;
  const [primary] = opts.owners ?? [];
  const ownPlace = primary === undefined ? undefined : partitionOfOwner(primary, of);
  if (opts.parent) return placeOfParent(opts.parent.queue, ownPlace, prefixes);
  if (ownPlace !== undefined) return ownPlace;
  const key = opts.deduplication?.id ?? opts.jobId;
  if (key === undefined) return (turn = (turn + 1) % of);
  return partitionNamedBy(key) ?? partitionOfText(key, of);
}

/** @param queue <prefix>:<queue> */
function placeOfParent(queue: string, ownPlace: number | undefined, prefixes: readonly string[]): number {
  const place = prefixes.findIndex((prefix) => queue.startsWith(`${prefix}:`));
  if (place === -1) throw new InvalidJobError(`The parent's queue "${queue}" has another prefix.`);
  if (ownPlace === undefined || ownPlace === place) return place;
  throw new InvalidJobError(
    `The job's first owner belongs to partition ${ownPlace}, its parent to ${place}. Name an owner of the parent's first.`,
  );
}
