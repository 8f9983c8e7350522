import { Redis } from 'ioredis';

import { median } from '../harness/median.js';
import type { Store } from './stores.js';

const COMMANDS = 3_000;

/** How long one command takes on an idle store: the median of many, one after the other, in ms. */
export async function loneCommandMs(store: Store): Promise<number> {
  const client = new Redis(store.url);
  const took: number[] = [];
  for (let i = 0; i < COMMANDS; i++) {
    const start = performance.now();
    await client.set('bench:lone', i);
    took.push(performance.now() - start);
  }
  await client.quit();
  return median(took);
}
