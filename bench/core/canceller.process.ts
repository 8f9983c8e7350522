import { Owners } from '#core';
import { Redis } from 'ioredis';
import { median } from '../harness/median.js';

/* Cancels owners of the core, in a process of its own: `node canceller.process.js <prefix> <store url>`. */

export interface CancelOrder {
  /** Cancelled one after the other. The first warms up. */
  readonly owners: readonly { readonly name: string; readonly jobs: number }[];
}

export interface Called {
  readonly ms: number;
}

const [prefix, url] = process.argv.slice(2) as [string, string];
const redis = new Redis(url, { maxRetriesPerRequest: null });
const owners = new Owners({ connection: redis, prefix });

process.on('message', (order: CancelOrder) => void obey(order).then((answer) => process.send?.(answer)));
process.once('disconnect', () => void end());
await redis.ping();
process.send?.('ready');

async function obey({ owners: all }: CancelOrder): Promise<Called> {
  const times: number[] = [];
  for (const { name, jobs } of all) {
    const start = performance.now();
    const { removed, done } = await owners.cancel(name, { wait: 'drained', waitFor: '2m' });
    times.push(performance.now() - start);
    if (!done || removed !== jobs) throw new Error(`${removed} of the ${jobs} jobs of ${name} were removed`);
  }
  return { ms: median(times.slice(1)) };
}

async function end(): Promise<void> {
  await owners.close();
  redis.disconnect();
  process.exit(0);
}
