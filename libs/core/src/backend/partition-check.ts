import { PartitionsError } from '../model/errors.js';
import type { Partition } from '../model/partitions.js';
import { runScript } from '../scripts/composed-scripts.js';
import type { RedisClient } from '../scripts/redis-client.js';

/** Given to BullMQ's classes among their options: which partition they work on. */
export interface PartitionedOptions {
  readonly prefix?: string;
  readonly partition?: Partition;
}

type Clients = { readonly client: Promise<RedisClient> };

/**
 * The client of this connection is handed out once the number of partitions has been checked. A store that does not answer is asked
 * again by the next call; a wrong number stays wrong.
 */
export function checkPartitionsFirst(connection: Clients, opts: PartitionedOptions, queue: string): void {
  const { client } = connection;
  const { partition = { of: 1, prefix: opts.prefix ?? 'bull' } } = opts;
  let checked: Promise<RedisClient> | undefined;
  const check = async (): Promise<RedisClient> => {
    try {
      return await ready(await client, partition, queue);
    } catch (error) {
      if (!(error instanceof PartitionsError)) checked = undefined;
      throw error;
    }
  };
  Object.defineProperty(connection, 'client', { get: () => (checked ??= check()) });
  connection.client.catch(() => undefined);
}

async function ready(client: RedisClient, partition: Pick<Partition, 'of' | 'prefix'>, queue: string) {
  const { of, prefix } = partition;
  const known = await numberOfPartitions(client, prefix, of, queue);
  if (known !== of) throw new PartitionsError(prefix, known, of);
  return client;
}

/** <prefix>~partitions is written by the first process that has several. A prefix without it has one. */
async function numberOfPartitions(
  client: RedisClient,
  prefix: string,
  asked: number,
  queue: string,
): Promise<number> {
  const key = `${prefix}~partitions`;
  const known = await client.get(key);
  if (known !== null) return Number(known);
  if (asked === 1) return 1;
  // A queue that was there before partitions were: its jobs would not be found.
  if (queue && (await client.hexists(`${prefix}:${queue}:meta`, 'version'))) return 1;
  return Number(await runScript(client, 'setUp', [key, asked]));
}
