import type { MooredWorkerOptions } from '#core';
import type { Worker } from 'bullmq';

/** What an application has for the workers that BullModule makes for it. */
export interface WorkerSettings {
  optionsOf(queue: string): Partial<MooredWorkerOptions>;
  /** A worker of this application was made. It does not run yet if `optionsOf` has `autorun: false`. */
  add(worker: Worker): void;
}

/**
 * The application that was put together last. BullModule makes workers without saying for which application. So they look here for the
 * options of their queue. Two applications of one process start one after the other.
 */
let starting: WorkerSettings | undefined;

export function startApplication(settings: WorkerSettings): void {
  starting = settings;
}

export function endApplication(settings: WorkerSettings): void {
  if (starting === settings) starting = undefined;
}

export function startingApplication(): WorkerSettings | undefined {
  return starting;
}
