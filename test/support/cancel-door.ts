import { createMooredBackend } from '#core/parts';
import type { QueueBaseOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';

const DAY_MS = 86_400_000;

/** Cancels an owner of a fleet by the script alone: the point of no return, without the clean-up, which no process finishes. */
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

/** The key of an owner's record in a fleet. */
export function recordOf(prefix: string, owner: string): string {
  return `{${prefix}}~owner~${owner}`;
}
