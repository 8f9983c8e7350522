import type { SideName } from './sides.js';

/*
 * Takes what waits, in a process of its own: `node worker.process.js <side> <store url> <handler ms> <concurrency>`.
 * It is told how many jobs warm it up and how many count, and answers how long those took when they are completed. It goes on
 * with other jobs until it is stopped.
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

type Consume = (
  url: string,
  ms: number,
  concurrency: number,
  completed: () => void,
) => Consumer | Promise<Consumer>;

const [side, url, ms, concurrency] = process.argv.slice(2) as [SideName, string, string, string];
const consume = await loadConsume();
let consumer: Consumer | undefined;

process.on('message', (task: Task) => void take(task));
process.once('disconnect', () => void end());
process.send?.('ready');

/** Loads the code of its own side alone. */
async function loadConsume(): Promise<Consume> {
  switch (side) {
    case 'plain':
      return (await import('./plain.js')).plainConsumer;
    case 'nestjs':
      return (await import('./nestjs.js')).nestConsumer;
    case 'core':
    case 'core-add':
    case 'core-unlimited':
      return (await import('./moored.js')).mooredConsumer;
    case 'pg-boss':
      return (await import('./rivals/pg-boss.js')).pgBossConsumer;
    case 'graphile-worker':
      return (await import('./rivals/graphile-worker.js')).graphileConsumer;
  }
}

async function take({ warmUp, count }: Task): Promise<void> {
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
