import { createMooredBackend } from '#core/parts';
import type { QueueBaseOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';

const DAY_MS = 86_400_000;

/**
 * Cancels an owner of a fleet by the script alone: its first hundred jobs are removed, and no process runs the
 * clean-up.
 */
export async function cancelByScript(
  redis: Redis,
  prefix: string,
  owner: string,
  { close = false } = {},
): Promise<void> {
  const root = `{${prefix}}`;
  const backend = createMooredBackend('cancel', { connection: redis, prefix: root } as QueueBaseOptions);
  const about = [root, owner, randomUUID(), close ? '1' : '', '', '', DAY_MS];
  await backend.run('cancel', [recordOf(prefix, owner), ...about, '', '', '', '', '', '', '']);
  await redis.unlink(`${root}~cancels`);
}

/** Moves the epoch of the owner and leaves its jobs, as before a clean-up reaches them. */
export async function moveEpoch(redis: Redis, prefix: string, owner: string): Promise<void> {
  const record = recordOf(prefix, owner);
  await redis.hset(record, 'epoch', `0${await redis.hget(record, 'epoch')}`);
}

/** The key of an owner's record in a fleet. */
export function recordOf(prefix: string, owner: string): string {
  return `{${prefix}}~owner~${owner}`;
}
