import { Redis } from 'ioredis';
import { startApp } from './slots.app.js';

/* Works until its parent disconnects: `node worker.process.js <store url> <concurrency>`. */
const [url, concurrency] = process.argv.slice(2) as [string, string];
const redis = new Redis(url, { maxRetriesPerRequest: null });
const app = await startApp(redis, { concurrency: Number(concurrency) });
process.once('disconnect', () => void end());
process.send?.('ready');

async function end(): Promise<void> {
  await app.close();
  redis.disconnect();
  process.exit(0);
}
