import { Sweeper, type SweepRecord } from '#nestjs';
import { Redis } from 'ioredis';
import { growthDuring, type Growth } from '../harness/growth.js';
import { startApp } from './retention.app.js';

/* Sweeps once, in a process of its own: `node sweeper.process.js <store url> <folder of the artifacts>`. */

export interface Sweeping extends Growth {
  readonly ms: number;
  readonly removed: number;
}

const SAMPLE_MS = 20;

const [url, folder] = process.argv.slice(2) as [string, string];
const redis = new Redis(url, { maxRetriesPerRequest: null });
const app = await startApp(redis, folder);

process.on('message', () => void sweep());
process.once('disconnect', () => void end());
process.send?.('ready');

async function sweep(): Promise<void> {
  const start = performance.now();
  let record: SweepRecord | undefined;
  const growth = await growthDuring(
    async () => void (record = await app.get(Sweeper).sweep('retention')),
    SAMPLE_MS,
  );
  if (record?.state !== 'done' || record.failed > 0)
    throw new Error(`the sweep did not do it all: ${JSON.stringify(record)}`);
  process.send?.({ ms: performance.now() - start, ...growth, removed: record.removed } satisfies Sweeping);
}

async function end(): Promise<void> {
  await app.close();
  redis.disconnect();
  process.exit(0);
}
