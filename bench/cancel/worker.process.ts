import { Redis } from 'ioredis';
import { monotonicMs } from './clock.js';
import { startApp } from './cancel.app.js';

/*
 * Runs jobs that wait to be told to stop: `node worker.process.js <store url> <concurrency> <lease ms>`. Asked for a number,
 * it answers once this number of jobs run; asked when they were told, once all of them were.
 */

export type Question = { readonly running: number } | { readonly told: number };

const [url, concurrency, leaseMs] = process.argv.slice(2) as [string, string, string];
let running = 0;
let told: number[] = [];
let question: Question = { running: 0 };

process.on('message', (asked: Question) => {
  question = asked;
  answer();
});
process.once('disconnect', () => void end());

const redis = new Redis(url, { maxRetriesPerRequest: null });
const watcher = {
  began() {
    running += 1;
    answer();
  },
  wasTold() {
    running -= 1;
    told.push(monotonicMs());
    answer();
  },
};
const limits = { concurrency: Number(concurrency), lockDuration: Number(leaseMs) };
const app = await startApp(redis, watcher, limits);
process.send?.('ready');

function answer(): void {
  if ('told' in question && question.told > 0 && told.length === question.told) {
    process.send?.({ times: told });
    told = [];
    question = { running: 0 };
  } else if ('running' in question && question.running > 0 && running === question.running) {
    process.send?.({ running });
    question = { running: 0 };
  }
}

async function end(): Promise<void> {
  await app.close();
  redis.disconnect();
  process.exit(0);
}
