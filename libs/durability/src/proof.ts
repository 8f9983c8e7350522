import type { Redis } from 'ioredis';
import type { DurabilityLevel } from './durability.js';
import { readInfo } from './sessions.js';

const BARRIER_KEEP_MS = 60_000;

/**
 * Whether a replica, or the disk, holds all that this server had answered when it was asked. The barrier is a write that
 * comes after all of it in the one stream that replicas and the append-only file get.
 */
export async function prove(
  redis: Redis,
  level: DurabilityLevel,
  key: string,
  waitMs: number,
): Promise<boolean> {
  // On Redis Cluster this fails at a server that has given the slot away.
  await redis.set(key, '', 'PX', BARRIER_KEEP_MS);
  if (level === 'replica') return (await redis.wait(1, waitMs)) >= 1;
  try {
    const [synced] = (await redis.call('WAITAOF', 1, 0, waitMs)) as [number];
    return synced >= 1;
  } catch (error) {
    if (/unknown command/i.test((error as Error).message)) return syncsAlways(redis);
    throw error;
  }
}

/** Why this server can never confirm the level; undefined if it can. */
export async function whyNever(redis: Redis, level: DurabilityLevel): Promise<string | undefined> {
  if (level === 'replica') return undefined;
  const { aof_enabled: isLogged } = readInfo(await redis.info('persistence'));
  if (isLogged !== '1') return 'has no append-only file (appendonly yes)';
  const [command] = (await redis.call('COMMAND', 'INFO', 'WAITAOF')) as unknown[];
  if (command || (await syncsAlways(redis))) return undefined;
  return 'knows no WAITAOF (Redis 7.2, Valkey), and is not a single server with appendfsync always';
}

export async function hasReplica(redis: Redis): Promise<boolean> {
  return Number(readInfo(await redis.info('replication'))['connected_slaves'] ?? 0) > 0;
}

/** A single server that syncs before it answers has on disk what it answered. */
async function syncsAlways(redis: Redis): Promise<boolean> {
  const [persistence, isReplicated, settings] = await Promise.all([
    redis.info('persistence'),
    hasReplica(redis),
    redis.config('GET', '*appendfsync*'),
  ]);
  const valueOf = (name: string): string | undefined => settings[settings.indexOf(name) + 1];
  return (
    !isReplicated &&
    readInfo(persistence)['aof_enabled'] === '1' &&
    valueOf('appendfsync') === 'always' &&
    valueOf('no-appendfsync-on-rewrite') === 'no'
  );
}
