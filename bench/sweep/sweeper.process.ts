import { Redis } from 'ioredis';
import { growthDuring, type Growth } from '../harness/growth.js';
import { ours } from './ours.js';
import { usual } from './usual.js';

/* Sweeps once, in a process of its own: `node sweeper.process.js <ours|usual> <store url> <service url>`. */

export interface Swept {
  /** About how many owners the service was asked, each time it was. */
  readonly asked: number;
  /** Jobs. */
  readonly removed: number;
}

export interface Side {
  sweep(): Promise<Swept>;
  close(): Promise<void>;
}

export interface Sweeping extends Swept, Growth {
  readonly ms: number;
}

const SAMPLE_MS = 20;

const [side, url, serviceUrl] = process.argv.slice(2) as ['ours' | 'usual', string, string];
const redis = new Redis(url, { maxRetriesPerRequest: null });
const sweeper = side === 'ours' ? await ours(redis, serviceUrl) : usual(redis, serviceUrl);

process.on('message', () => void sweep());
process.once('disconnect', () => void end());
process.send?.('ready');

async function sweep(): Promise<void> {
  const start = performance.now();
  let swept: Swept | undefined;
  const growth = await growthDuring(async () => void (swept = await sweeper.sweep()), SAMPLE_MS);
  process.send?.({ ms: performance.now() - start, ...growth, ...swept! } satisfies Sweeping);
}

async function end(): Promise<void> {
  await sweeper.close();
  redis.disconnect();
  process.exit(0);
}
