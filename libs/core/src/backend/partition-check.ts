import { InvalidJobError, PartitionsError } from '../model/errors.js';
import type { RedisClient } from '../scripts/redis-client.js';

export interface PartOptions {
  readonly prefix?: string;
  /** Set by @mooring/partitions. Throws if the prefix has another number of partitions. */
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
  connection: object,
  connect: () => Promise<RedisClient>,
  opts: PartOptions,
  queue: string,
): void {
  const { prefix = 'bull', checkPart = (whole: RedisClient) => checkWhole(whole, prefix) } = opts;
  let checked: Promise<RedisClient> | undefined;
  const check = async (): Promise<RedisClient> => {
    try {
      const client = await connect();
      await checkPart(client, queue);
      return client;
    } catch (error) {
      if (!(error instanceof PartitionsError)) checked = undefined;
      throw error;
    }
  };
  const get = (): Promise<RedisClient> => {
    checked ??= check();
    // Callers get its error. Without a caller it is no error of the process.
    checked.catch(() => undefined);
    return checked;
  };
  Object.defineProperty(connection, 'client', { get, configurable: true });
  void get();
}

/** The number of partitions, which the first process that uses a prefix writes. */
export function partitionsKey(prefix: string): string {
  return `${prefix}~partitions`;
}

const SET_UP = "redis.call('SETNX', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])";

/** Answers how many partitions the prefix has: as many as are asked for, unless another process was first. */
export async function setUpPartitions(client: RedisClient, prefix: string, asked: number): Promise<number> {
  const command = 'mooring:setUpPartitions';
  if (!(command in client)) client.defineCommand(command, { lua: SET_UP, numberOfKeys: 1 });
  return Number(await client.runCommand(command, [partitionsKey(prefix), asked]));
}

async function checkWhole(client: RedisClient, prefix: string): Promise<void> {
  // A store that is full cannot note the number, and is worked with all the same.
  const known =
    (await client.get(partitionsKey(prefix))) ?? (await setUpPartitions(client, prefix, 1).catch(() => 1));
  if (Number(known) !== 1) throw new PartitionsError(prefix, Number(known), 1);
}
