import { InvalidJobError, PartitionsError } from '../model/errors.js';
import type { RedisClient } from '../scripts/redis-client.js';

export interface PartOptions {
  readonly prefix?: string;
  /** From @mooring/partitions, whose classes use the classes here for one part of a prefix each: throws if it is not theirs. */
  readonly checkPart?: (client: RedisClient, queue: string) => Promise<void>;
}

export function refusePartitions({ partitions = 1 }: { readonly partitions?: number }): void {
  if (partitions === 1) return;
  throw new InvalidJobError(
    `This class has one partition; partitions: ${String(partitions)} is for those of the package @mooring/partitions.`,
  );
}

/**
 * The client of this connection is handed out once the number of partitions has been checked. A store that does not answer is asked
 * again by the next call; a wrong number stays wrong.
 */
export function checkPartitionsFirst(
  connection: { readonly client: Promise<RedisClient> },
  opts: PartOptions,
  queue: string,
): void {
  const { client } = connection;
  const { prefix = 'bull', checkPart = (whole: RedisClient) => checkWhole(whole, prefix) } = opts;
  let checked: Promise<RedisClient> | undefined;
  const check = async (): Promise<RedisClient> => {
    try {
      await checkPart(await client, queue);
      return await client;
    } catch (error) {
      if (!(error instanceof PartitionsError)) checked = undefined;
      throw error;
    }
  };
  Object.defineProperty(connection, 'client', { get: () => (checked ??= check()) });
  connection.client.catch(() => undefined);
}

/** The first process that has several partitions writes <prefix>~partitions. A prefix without it has one. */
async function checkWhole(client: RedisClient, prefix: string): Promise<void> {
  const known = await client.get(`${prefix}~partitions`);
  if (known !== null) throw new PartitionsError(prefix, Number(known), 1);
}
