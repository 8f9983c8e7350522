import { Redis } from 'ioredis';
import type { AddressInfo } from 'node:net';
import { fill, type Shape } from './fill.js';
import { startApi } from './find.app.js';

/* An api, which also fills its store when asked to: `node api.process.js <store url>`. */

export interface Filled {
  readonly port: number;
  readonly tookMs: number;
}

const [url] = process.argv.slice(2) as [string];
const redis = new Redis(url, { maxRetriesPerRequest: null });
const app = await startApi(redis);
await app.listen(0, '127.0.0.1');

let release = async (): Promise<void> => {};
process.on('message', (shape: Shape) => void begin(shape));
process.once('disconnect', () => void end());
process.send?.('ready');

async function begin(shape: Shape): Promise<void> {
  const start = performance.now();
  release = await fill(redis, app, shape);
  const { port } = app.getHttpServer().address() as AddressInfo;
  process.send?.({ port, tookMs: performance.now() - start } satisfies Filled);
}

async function end(): Promise<void> {
  await release();
  await app.close();
  redis.disconnect();
  process.exit(0);
}
