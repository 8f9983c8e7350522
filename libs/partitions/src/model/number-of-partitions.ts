import { PartitionsError } from '#core';
import { partitionsKey, setUpPartitions, type PartOptions } from '#core/parts';

/** Refuses a process that has another number of partitions than the prefix was set up with. */
export function checkNumber(prefix: string, asked: number): NonNullable<PartOptions['checkPart']> {
  return async (client, queue) => {
    const written = await client.get(partitionsKey(prefix));
    // A queue of BullMQ's alone, or one that was there before the number was written: its jobs would not be found.
    const isOlder = written === null && queue && (await client.hexists(`${prefix}:${queue}:meta`, 'version'));
    const known = isOlder ? 1 : Number(written ?? (await setUpPartitions(client, prefix, asked)));
    if (known !== asked) throw new PartitionsError(prefix, known, asked);
  };
}
