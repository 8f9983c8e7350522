import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';

const HOUR_MS = 3_600_000;

interface Scripts {
  'mooring:cancel'(...args: readonly (string | number)[]): Promise<unknown>;
}

/** The first command of a cancel, without those of its clean-up. @param redis one that the core's classes have been given */
export async function sendCancelOnly(
  redis: Redis,
  prefix: string,
  owner: string,
  cancelId: string = randomUUID(),
): Promise<void> {
  const args = [prefix, owner, cancelId, '', '', '', HOUR_MS, '', '', '', '', '', ''];
  await (redis as unknown as Scripts)['mooring:cancel'](`${prefix}~owner~${owner}`, ...args);
}
