import type { z } from 'zod';
import { StoreDurability, type Servers } from '#durability';
import type { DurabilityEnv, StoreEnv } from '../config/fields.js';
import type { Log } from '../log/log.js';
import type { StoreConnection } from './connect.js';
import { masters } from './info.js';
import { keysOnMasters } from './master-keys.js';

type Settings = { readonly MOORING_PREFIX: z.output<typeof StoreEnv.MOORING_PREFIX> } & {
  readonly [K in keyof typeof DurabilityEnv]?: z.output<(typeof DurabilityEnv)[K]> | undefined;
};

/** What the environment asks for; nothing when it asks for nothing. */
export function openDurability(
  redis: StoreConnection,
  { MOORING_PREFIX, DURABILITY = 'none', DURABILITY_TIMEOUT = 1_000 }: Settings,
): StoreDurability | undefined {
  if (DURABILITY === 'none') return undefined;
  // On a Cluster all masters have to confirm: what a call writes is spread over them.
  const servers: Servers = {
    nodes: async () => masters(redis),
    keyAt: (node) => keysOnMasters(redis, MOORING_PREFIX, 'barrier').get(node),
  };
  return new StoreDurability({ servers, level: DURABILITY, timeoutMs: DURABILITY_TIMEOUT });
}

/** Says what the store cannot do, and what it cannot do now. */
export async function checkDurability(
  durability: StoreDurability,
  log: Log,
  refuse: (why: string) => void,
): Promise<void> {
  try {
    const why = await durability.whyNever();
    if (why !== undefined) {
      refuse(`DURABILITY=${durability.level}: the store ${why}. Change the store, or set DURABILITY=none.`);
    }
    if (await durability.lacksReplica()) {
      const text = 'The store has no replica now: until it has one, every answer says `durable: false`';
      log.warn({ event: 'store.no-replica' }, text);
    }
  } catch (error) {
    log.warn({ event: 'store.unchecked', err: error }, 'Could not look whether the store reaches DURABILITY');
  }
}
