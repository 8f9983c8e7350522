import type { PerOwner } from './work.js';
import type { Extra } from './extras.js';
import type { SideName } from './sides.js';

/* Enqueues what it is asked to, in a process of its own: `node producer.process.js <side> <store url>`. */

/** What the jobs are like. */
export interface Manner {
  readonly perOwner: PerOwner;
  readonly extra?: Extra | undefined;
}

export interface Producer {
  add(n: number, manner: Manner): Promise<unknown>;
  addMany(from: number, count: number, manner: Manner): Promise<unknown>;
  close(): Promise<void>;
}

export interface Order extends Manner {
  readonly count: number;
  /** One call a job, and this many calls under way; or one call for `batch` jobs. */
  readonly inFlight?: number;
  readonly batch?: number;
}

export interface Enqueued {
  readonly ms: number;
  readonly cpuMs: number;
}

const [side, url] = process.argv.slice(2) as [SideName, string];
const producer = await startProducer();
/** Every job of this process is another one, and so is every owner. */
let made = 0;

process.on('message', (order: Order) => void enqueue(order).then((answer) => process.send?.(answer)));
process.once('disconnect', () => void end());
process.send?.('ready');

/** Loads the code of its own side alone. */
async function startProducer(): Promise<Producer> {
  switch (side) {
    case 'plain':
      return (await import('./plain.js')).plainProducer(url);
    case 'nestjs':
      return (await import('./nestjs.js')).nestProducer(url);
    case 'core':
    case 'core-add':
    case 'core-unlimited':
      return (await import('./moored.js')).mooredProducer(side, url);
    case 'pg-boss':
      return (await import('./rivals/pg-boss.js')).pgBossProducer(url);
    case 'graphile-worker':
      return (await import('./rivals/graphile-worker.js')).graphileProducer(url);
  }
}

async function end(): Promise<void> {
  await producer.close();
  process.exit(0);
}

async function enqueue(order: Order): Promise<Enqueued> {
  const from = made;
  made += order.count;
  const cpu = process.cpuUsage();
  const start = performance.now();
  await (order.inFlight === undefined ? addInBatches(from, order) : addOneByOne(from, order));
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  return { ms, cpuMs: (user + system) / 1_000 };
}

async function addInBatches(from: number, { count, batch = 1, ...manner }: Order): Promise<void> {
  for (let added = 0; added < count; added += batch)
    await producer.addMany(from + added, Math.min(batch, count - added), manner);
}

async function addOneByOne(from: number, { count, inFlight, ...manner }: Order): Promise<void> {
  let next = from;
  const addNext = async (): Promise<void> => {
    while (next < from + count) await producer.add((next += 1) - 1, manner);
  };
  await Promise.all(Array.from({ length: inFlight! }, addNext));
}
