import { ourProducer } from './ours.js';
import { plainProducer } from './plain.js';
import type { PerOwner, SideName } from './work.js';

/* Enqueues what it is asked to, in a process of its own: `node producer.process.js <side> <store url>`. */

export interface Producer {
  add(n: number, perOwner: PerOwner): Promise<unknown>;
  addMany(from: number, count: number, perOwner: PerOwner): Promise<unknown>;
  close(): Promise<void>;
}

export interface Order {
  readonly count: number;
  readonly perOwner: PerOwner;
  /** One call per job, at this concurrency; or one call for this number of jobs. */
  readonly inFlight?: number;
  readonly batch?: number;
}

export interface Enqueued {
  readonly ms: number;
  readonly cpuMs: number;
  /** Of this process, after it. */
  readonly rssMb: number;
}

const [side, url] = process.argv.slice(2) as [SideName, string];
const producer = side === 'ours' ? await ourProducer(url) : plainProducer(url);
/** Every job of this process is another one, and so is every owner. */
let made = 0;

process.on('message', (order: Order) => void obey(order));
process.once('disconnect', () => void end());
process.send?.('ready');

async function obey(order: Order): Promise<void> {
  process.send?.(await enqueue(order));
}

async function end(): Promise<void> {
  await producer.close();
  process.exit(0);
}

async function enqueue({ count, perOwner, inFlight, batch = 1 }: Order): Promise<Enqueued> {
  const from = made;
  made += count;
  const cpu = process.cpuUsage();
  const start = performance.now();
  if (inFlight === undefined) {
    for (let n = from; n < made; n += batch) await producer.addMany(n, Math.min(batch, made - n), perOwner);
  } else {
    let next = from;
    const oneAfterTheOther = async (): Promise<void> => {
      while (next < made) await producer.add((next += 1) - 1, perOwner);
    };
    await Promise.all(Array.from({ length: inFlight }, oneAfterTheOther));
  }
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  return { ms, cpuMs: (user + system) / 1_000, rssMb: process.memoryUsage.rss() / 1_048_576 };
}
