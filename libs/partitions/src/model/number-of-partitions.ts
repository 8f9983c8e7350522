import { PartitionsError } from '#core';
import { partitionsKey, setUpPartitions, type PartOptions } from '#core/parts';
import type { Client } from './wake-worker.js';

/** Refuses a process that has another number of partitions than the prefix was set up with. */
export function checkNumber(prefix: string, asked: number): NonNullable<PartOptions['checkPart']> {
  return async (client, queue) => {
    const known = await numberOfPartitions(client, prefix, asked, queue);
    if (known !== asked) throw new PartitionsError(prefix, known, asked);
  };
}

async function numberOfPartitions(
  client: Client,
  prefix: string,
  asked: number,
  queue: string,
): Promise<number> {
  const known = await client.get(partitionsKey(prefix));
  if (known !== null) return Number(known);
  // A queue of BullMQ's alone, or one that was there before the number was written: its jobs would not be found.
  if (queue && (await client.hexists(`${prefix}:${queue}:meta`, 'version'))) return 1;
  return setUpPartitions(client, prefix, asked);
}
