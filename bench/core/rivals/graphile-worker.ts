import type { EventEmitter } from 'node:events';
import { payload, PRIORITY, QUEUE, work } from '../work.js';
import { extrasOf } from '../extras.js';
import type { Manner, Producer } from '../producer.process.js';
import type { Consumer } from '../worker.process.js';
import { loadRival } from './install.js';

/** What this benchmark uses of graphile-worker 0.17. */
interface GraphileWorker {
  makeWorkerUtils(options: { connectionString: string; logger: unknown }): Promise<WorkerUtils>;
  run(options: RunOptions): Promise<{ readonly events: EventEmitter; stop(): Promise<void> }>;
  Logger: new (factory: () => () => void) => unknown;
}
interface WorkerUtils {
  migrate(): Promise<void>;
  addJob(task: string, data: object, options: JobOptions): Promise<unknown>;
  addJobs(jobs: readonly (JobOptions & { identifier: string; payload: object })[]): Promise<unknown>;
  release(): Promise<void>;
}
interface JobOptions {
  readonly priority: number;
  readonly jobKey?: string;
}
interface RunOptions {
  readonly connectionString: string;
  readonly concurrency: number;
  readonly noHandleSignals: boolean;
  readonly logger: unknown;
  readonly taskList: Readonly<Record<string, () => Promise<void>>>;
  readonly events: EventEmitter;
  readonly preset: { readonly worker: Readonly<Record<string, unknown>> };
}

export const GRAPHILE_TABLES = ['graphile_worker._private_jobs'];
/** Jobs that a process fetches at a time. */
const LOCAL_QUEUE = 500;

function load(): { library: GraphileWorker; logger: unknown } {
  const library = loadRival('graphile-worker') as GraphileWorker;
  return { library, logger: new library.Logger(() => () => undefined) };
}

export async function graphileProducer(url: string): Promise<Producer> {
  const { library, logger } = load();
  const utils = await library.makeWorkerUtils({ connectionString: url, logger });
  await utils.migrate();
  return {
    add: (n, manner) => utils.addJob(QUEUE, payload(n), optionsOf(n, manner)),
    addMany: (from, count, manner) =>
      utils.addJobs(
        Array.from({ length: count }, (_, i) => ({
          identifier: QUEUE,
          payload: payload(from + i),
          ...optionsOf(from + i, manner),
        })),
      ),
    close: () => utils.release(),
  };
}

function optionsOf(n: number, { extra }: Manner): JobOptions {
  const { dedup } = extrasOf(n, extra);
  return { priority: PRIORITY, ...(dedup && { jobKey: dedup.key }) };
}

/** With its local queue and batched completions, which it recommends for many short jobs. */
export async function graphileConsumer(
  url: string,
  ms: number,
  concurrency: number,
  completed: () => void,
): Promise<Consumer> {
  const { library, logger } = load();
  const { EventEmitter } = await import('node:events');
  const events = new EventEmitter();
  // The run has ended; that it is deleted is written soon after, with others.
  events.on('job:complete', completed);
  const runner = await library.run({
    connectionString: url,
    concurrency,
    noHandleSignals: true,
    logger,
    taskList: { [QUEUE]: () => work(ms) },
    events,
    preset: {
      worker: { localQueue: { size: LOCAL_QUEUE }, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
    },
  });
  return { close: () => runner.stop() };
}
