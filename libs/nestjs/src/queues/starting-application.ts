import type { ForQueueOptions } from '../options.js';

/** The options of an application's queues, by name. */
export type QueueOptionsByName = ReadonlyMap<string, ForQueueOptions>;

/**
 * The application that was put together last. BullModule makes workers without saying for which application, and they begin to fetch
 * at once: so they look here for the options of their queue. Two applications of one process start one after the other.
 */
let starting: QueueOptionsByName | undefined;

export function startApplication(options: QueueOptionsByName): void {
  starting = options;
}

export function endApplication(options: QueueOptionsByName): void {
  if (starting === options) starting = undefined;
}

export function optionsOfStartingQueue(name: string): ForQueueOptions {
  return starting?.get(name) ?? {};
}
