import type { Redis } from 'ioredis';
import { hash } from 'node:crypto';
import { scriptText } from './script-text.js';

const DAY_MS = 86_400_000;

/** Cancels an owner, or one job of it, by the script alone: the point of no return, with nothing tidied up behind it. */
export async function cancelByScript(
  redis: Redis,
  prefix: string,
  owner: string,
  { close = false, job = '' } = {},
): Promise<string[]> {
  const args = ['', `cancel-${Math.random()}`, close ? 1 : 0, owner, '', '', DAY_MS, DAY_MS, '', job, '{}'];
  const record = recordOf(prefix, owner);
  const answer = (await redis.eval(scriptText('cancel/cancel'), 1, record, ...args)) as string[];
  // Nobody is to finish it.
  await redis.unlink(`${record}:cancels`);
  return answer;
}

/** The key of an owner's record. */
export function recordOf(prefix: string, owner: string): string {
  const digest = hash('sha256', owner, 'base64url').slice(0, 22);
  return `${prefix}:{${digest}}`;
}
