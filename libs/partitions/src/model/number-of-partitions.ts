import { PartitionsError } from '#core';
import type { PartOptions } from '#core/parts';
import { runOwnScript, type Client } from './own-scripts.js';

/** Refuses a process that has another number of partitions than the prefix was set up with. */
export function checkNumber(prefix: string, asked: number): NonNullable<PartOptions['checkPart']> {
  return async (client, queue) => {
    const known = await numberOfPartitions(client, prefix, asked, queue);
    if (known !== asked) throw new PartitionsError(prefix, known, asked);
  };
}

/** <prefix>~partitions is written by the first process that has several. */
async function numberOfPartitions(
  client: Client,
  prefix: string,
  asked: number,
  queue: string,
): Promise<number> {
  const key = `${prefix}~partitions`;
  const known = await client.get(key);
  if (known !== null) return Number(known);
  // A queue that was there before partitions were: its jobs would not be found.
  if (queue && (await client.hexists(`${prefix}:${queue}:meta`, 'version'))) return 1;
  return Number(await runOwnScript(client, 'setUp', key, asked));
}
