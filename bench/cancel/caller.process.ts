import { Owners } from '#core';
import { Redis } from 'ioredis';
import { growthDuring, type Growth } from '../harness/growth.js';
import { median } from '../harness/median.js';
import { startApp } from './cancel.app.js';
import { PlainQueue } from './plain.queue.js';

/* Cancels once, in a process of its own: `node caller.process.js <ours|usual> <store url>`. */

export interface Order {
  /** Owners to cancel, one after the other, and the jobs of each. Of several, the first warms up. */
  readonly tripIds: readonly string[];
  readonly jobs: number;
}

export interface Called extends Growth {
  readonly ms: number;
}

const SAMPLE_MS = 2;

type Side = { cancel(tripId: string): Promise<number>; close(): Promise<void> };

const [side, url] = process.argv.slice(2) as ['ours' | 'usual', string];
const redis = new Redis(url, { maxRetriesPerRequest: null });
const caller = side === 'ours' ? await ours() : new PlainQueue(redis);

process.on('message', (order: Order) => void obey(order));
process.once('disconnect', () => void end());
process.send?.('ready');

async function ours(): Promise<Side> {
  const app = await startApp(redis);
  const owners = app.get(Owners);
  return {
    cancel: async (tripId) => {
      const receipt = await owners.cancel(`trip:${tripId}`, { wait: 'drained', waitFor: '2m' });
      return receipt.done ? receipt.removed : -1;
    },
    close: () => app.close(),
  };
}

async function obey({ tripIds, jobs }: Order): Promise<void> {
  const times: number[] = [];
  const growth = await growthDuring(async () => {
    for (const tripId of tripIds) {
      const start = performance.now();
      const removed = await caller.cancel(tripId);
      times.push(performance.now() - start);
      if (removed !== jobs) throw new Error(`${side} removed ${removed} jobs of ${tripId}, not ${jobs}`);
    }
  }, SAMPLE_MS);
  process.send?.({ ms: median(times.length > 1 ? times.slice(1) : times), ...growth } satisfies Called);
}

async function end(): Promise<void> {
  await caller.close();
  redis.disconnect();
  process.exit(0);
}
