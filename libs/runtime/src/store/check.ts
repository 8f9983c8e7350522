import type { StoreConnection } from './connect.js';
import { masters, readInfo } from './info.js';

// What BullMQ 6 asks for; its scripts use commands that older ones lack.
const OLDEST = [6, 2, 0];

/** The store is there but must not be used. The message says what to set. */
export class UnfitStoreError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnfitStoreError';
  }
}

/** Refuses a store that would lose jobs by itself, is too old, or has data that is. Asks every node of a Cluster. */
export async function checkStore(redis: StoreConnection, prefix: string): Promise<void> {
  for (const node of masters(redis)) {
    const info = readInfo(await node.info('server'));
    refuseOld(info['redis_version'] ?? '0', info['valkey_version']);
    refuseEviction(readInfo(await node.info('memory'))['maxmemory_policy']);
  }
  await refuseOldData(redis, prefix);
}

/** Janitors of version 0.1.0 leave this key for good. Jobs of that version would never run. */
async function refuseOldData(redis: StoreConnection, prefix: string): Promise<void> {
  if ((await redis.exists(`${prefix}:{sweeps}:lock:expiry:fence`)) === 0) return;
  throw new UnfitStoreError(
    `The store has data of Mooring 0.1.0 under the prefix "${prefix}", and this version cannot read it. ` +
      'Set another MOORING_PREFIX, or empty the store.',
  );
}

function refuseOld(version: string, valkeyVersion: string | undefined): void {
  if (valkeyVersion) return;
  const parts = version.split('.').map(Number);
  for (const [i, wanted] of OLDEST.entries()) {
    const part = parts[i] ?? 0;
    if (part > wanted) return;
    if (part < wanted) {
      throw new UnfitStoreError(
        `The store is Redis ${version}; Mooring needs ${OLDEST.join('.')} or newer, or Valkey.`,
      );
    }
  }
}

function refuseEviction(policy: string | undefined): void {
  if (policy === undefined || policy === 'noeviction') return;
  throw new UnfitStoreError(
    `The store's maxmemory-policy is "${policy}": when memory is short it deletes jobs and locks. ` +
      'Set it to noeviction (redis-cli config set maxmemory-policy noeviction, and in redis.conf).',
  );
}
