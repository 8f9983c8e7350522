import { Cluster, type Redis } from 'ioredis';
import type { StoreConnection } from './connect.js';
import { hashSlot } from './hash-slot.js';
import { masters } from './info.js';

/** A master with very few slots may have no key of ours. */
const MOST_TRIES = 10_000;

/** A key of that name on each server that takes writes. Every process finds the same ones as long as no slot moves. */
export function keysOnMasters(redis: StoreConnection, prefix: string, name: string): Map<Redis, string> {
  if (!(redis instanceof Cluster)) return new Map([[redis, `${prefix}:{${name}}`]]);
  const keys = new Map<Redis, string>();
  for (const node of masters(redis)) {
    const { host, port } = node.options;
    const tag = tagOn(redis, `${host}:${port}`, name);
    if (tag !== undefined) keys.set(node, `${prefix}:{${tag}}`);
  }
  return keys;
}

function tagOn(cluster: Cluster, node: string, name: string): string | undefined {
  for (let n = 0; n < MOST_TRIES; n += 1) {
    const tag = `${name}:${n}`;
    if (cluster.slots[hashSlot(tag)]?.[0] === node) return tag;
  }
  return undefined;
}
