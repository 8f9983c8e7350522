import type { RedisQueueBackend } from 'bullmq';

/** BullMQ's view of a connection. */
export type Client = Awaited<RedisQueueBackend['client']>;

const SCRIPTS = {
  /** How many partitions a prefix has: the first process decides. */
  setUp: `
    if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SET', KEYS[1], ARGV[1]) end
    return redis.call('GET', KEYS[1])`,
  /** Puts the marker of a queue back. */
  wakeWorker: `return redis.call('ZADD', KEYS[1], 0, '0')`,
} as const;

/** Runs a script on one key. */
export function runOwnScript(
  client: Client,
  name: keyof typeof SCRIPTS,
  key: string,
  ...args: readonly number[]
): Promise<unknown> {
  const command = `mooring:${name}`;
  if (!(command in client)) client.defineCommand(command, { lua: SCRIPTS[name], numberOfKeys: 1 });
  return client.runCommand(command, [key, ...args]);
}
