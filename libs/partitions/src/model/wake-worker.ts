import type { RedisQueueBackend } from 'bullmq';

/** BullMQ's view of a connection. */
export type Client = Awaited<RedisQueueBackend['client']>;

const COMMAND = 'mooring:wakeWorker';
const LUA = `return redis.call('ZADD', KEYS[1], 0, '0')`;

/** Puts the marker of a queue back. */
export function wakeWorker(client: Client, marker: string): Promise<unknown> {
  if (!(COMMAND in client)) client.defineCommand(COMMAND, { lua: LUA, numberOfKeys: 1 });
  return client.runCommand(COMMAND, [marker]);
}
