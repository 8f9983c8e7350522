import { ourConsumer } from './ours.js';
import { plainConsumer } from './plain.js';
import type { SideName } from './work.js';

/*
 * Takes what waits, in a process of its own: `node worker.process.js <side> <store url> <handler ms> <concurrency>`.
 * Asked for a number of jobs after a number for warming up, it answers how long those took, when they are completed.
 */

export interface Consumer {
  close(): Promise<void>;
}

export interface Task {
  readonly warmUp: number;
  readonly count: number;
}

export interface Processed {
  readonly ms: number;
  readonly cpuMs: number;
}

const [side, url, ms, concurrency] = process.argv.slice(2) as [SideName, string, string, string];
const consume = side === 'ours' ? ourConsumer : plainConsumer;
let consumer: Consumer | undefined;

process.on('message', ({ warmUp, count }: Task) => void take(warmUp, count));
process.once('disconnect', () => void end());
process.send?.('ready');

async function take(warmUp: number, count: number): Promise<void> {
  let completed = 0;
  let start = 0;
  let cpu = process.cpuUsage();
  consumer = await consume(url, Number(ms), Number(concurrency), () => {
    completed += 1;
    if (completed === warmUp) {
      cpu = process.cpuUsage();
      start = performance.now();
    } else if (completed === warmUp + count) {
      const { user, system } = process.cpuUsage(cpu);
      process.send?.({ ms: performance.now() - start, cpuMs: (user + system) / 1_000 } satisfies Processed);
    }
  });
}

async function end(): Promise<void> {
  await consumer?.close();
  process.exit(0);
}
