import { payload, PRIORITY, QUEUE, work } from '../work.js';
import { extrasOf } from '../extras.js';
import type { Manner, Producer } from '../producer.process.js';
import type { Consumer } from '../worker.process.js';
import { loadRival } from './install.js';

/** What this benchmark uses of pg-boss 10. */
interface PgBoss {
  on(event: 'error', listener: (error: Error) => void): void;
  start(): Promise<unknown>;
  stop(options: { graceful: boolean; wait: boolean }): Promise<void>;
  createQueue(name: string, options: { policy: 'standard' | 'short' }): Promise<void>;
  send(name: string, data: object, options: JobOptions): Promise<string | null>;
  insert(jobs: readonly (JobOptions & { name: string; data: object })[]): Promise<unknown>;
  fetch(name: string, options: { batchSize: number }): Promise<{ id: string }[]>;
  complete(name: string, ids: readonly string[]): Promise<unknown>;
}
interface JobOptions {
  readonly priority: number;
  readonly singletonKey?: string;
}
type PgBossClass = new (options: {
  connectionString: string;
  supervise: boolean;
  schedule: boolean;
}) => PgBoss;

export const PG_BOSS_TABLES = ['pgboss.job', 'pgboss.archive'];
/** A queue in which only one job of a key waits. */
const DEDUP_QUEUE = `${QUEUE}-dedup`;
/** Loops that fetch jobs, each a batch at a time. */
const LOOPS = 5;
const LOOKS_AGAIN_MS = 20;

async function startBoss(url: string): Promise<PgBoss> {
  const PgBoss = loadRival('pg-boss') as PgBossClass;
  const boss = new PgBoss({
    connectionString: url,
    supervise: false,
    schedule: false,
  });
  boss.on('error', (error) => console.error(error.message));
  await boss.start();
  await boss.createQueue(QUEUE, { policy: 'standard' });
  await boss.createQueue(DEDUP_QUEUE, { policy: 'short' });
  return boss;
}

export async function pgBossProducer(url: string): Promise<Producer> {
  const boss = await startBoss(url);
  return {
    add: (n, manner) => boss.send(queueOf(manner), payload(n), optionsOf(n, manner)),
    addMany: (from, count, manner) =>
      boss.insert(
        Array.from({ length: count }, (_, i) => ({
          name: queueOf(manner),
          data: payload(from + i),
          ...optionsOf(from + i, manner),
        })),
      ),
    close: () => boss.stop({ graceful: false, wait: false }),
  };
}

function queueOf({ extra }: Manner): string {
  return extra === 'dedup' ? DEDUP_QUEUE : QUEUE;
}

function optionsOf(n: number, { extra }: Manner): JobOptions {
  const { dedup } = extrasOf(n, extra);
  return { priority: PRIORITY, ...(dedup && { singletonKey: dedup.key }) };
}

/** By `fetch` and `complete`: `work` looks for the next jobs at most twice a second. */
export async function pgBossConsumer(
  url: string,
  ms: number,
  concurrency: number,
  completed: () => void,
): Promise<Consumer> {
  const boss = await startBoss(url);
  const batchSize = concurrency / LOOPS;
  let isOpen = true;
  const takeBatch = async (queue: string): Promise<number> => {
    const ids = (await boss.fetch(queue, { batchSize })).map(({ id }) => id);
    if (ids.length === 0) return 0;
    await Promise.all(ids.map(() => work(ms)));
    await boss.complete(queue, ids);
    ids.forEach(completed);
    return ids.length;
  };
  const loop = async (): Promise<void> => {
    while (isOpen) {
      const taken = (await takeBatch(QUEUE)) + (await takeBatch(DEDUP_QUEUE));
      if (taken === 0) await work(LOOKS_AGAIN_MS);
    }
  };
  const loops = Array.from({ length: LOOPS }, loop);
  return {
    async close() {
      isOpen = false;
      await Promise.all(loops);
      await boss.stop({ graceful: false, wait: false });
    },
  };
}
