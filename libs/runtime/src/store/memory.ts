import type { StoreConnection } from './connect.js';
import { masters, readInfo } from './info.js';

export interface StoreMemory {
  readonly usedBytes: number;
  /** 0: the store has no limit of its own. */
  readonly limitBytes: number;
}

/** The memory of the store; of a Cluster, of the node that is fullest, for it is the first to refuse. */
export async function storeMemory(redis: StoreConnection): Promise<StoreMemory> {
  const nodes = await Promise.all(
    masters(redis).map(async (node) => {
      const { used_memory: used, maxmemory: limit } = readInfo(await node.info('memory'));
      return { usedBytes: Number(used ?? 0), limitBytes: Number(limit ?? 0) };
    }),
  );
  return fullest(nodes);
}

export function fullest(nodes: readonly StoreMemory[]): StoreMemory {
  const sorted = nodes.toSorted((a, b) => share(b) - share(a) || b.usedBytes - a.usedBytes);
  return sorted[0] ?? { usedBytes: 0, limitBytes: 0 };
}

function share({ usedBytes, limitBytes }: StoreMemory): number {
  return limitBytes > 0 ? usedBytes / limitBytes : 0;
}
