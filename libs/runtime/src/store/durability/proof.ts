import type { Redis } from 'ioredis';
import { readInfo } from '../info.js';

export type DurabilityLevel = 'replica' | 'disk';

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
  const barrier = redis.pipeline().set(key, '', 'PX', BARRIER_KEEP_MS);
  const answers = await (
    level === 'replica' ? barrier.wait(1, waitMs) : barrier.call('WAITAOF', 1, 0, waitMs)
  ).exec();
  const [[notSet], [notAwaited, held]] = answers as [[Error | null], [Error | null, unknown]];
  if (notSet) throw notSet;
  if (notAwaited && level === 'disk' && isUnknown(notAwaited)) return syncsAlways(redis);
  if (notAwaited) throw notAwaited;
  return Number(Array.isArray(held) ? held[0] : held) >= 1;
}

/** Why this server can never say that the level is reached; nothing when it can. */
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
  const [persistence, settings, isReplicated] = await Promise.all([
    redis.info('persistence'),
    redis.config('GET', '*appendfsync*'),
    hasReplica(redis),
  ]);
  const valueOf = (name: string): string | undefined => settings[settings.indexOf(name) + 1];
  return (
    !isReplicated &&
    readInfo(persistence)['aof_enabled'] === '1' &&
    valueOf('appendfsync') === 'always' &&
    valueOf('no-appendfsync-on-rewrite') === 'no'
  );
}

function isUnknown(error: Error): boolean {
  return /unknown command/i.test(error.message);
}
