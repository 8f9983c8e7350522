import { MooredWorker, type MooredWorkerOptions } from '#core';
import type { Processor } from 'bullmq';
import { optionsOfStartingQueue } from './starting-application.js';

/** The worker that BullModule makes, with the options that `forQueue` has for its queue. Those of `@Processor` win. */
export class RegisteredWorker extends MooredWorker {
  constructor(name: string, processor: Processor | string | URL | null, opts: MooredWorkerOptions) {
    super(name, processor, { ...optionsOfStartingQueue(name), ...opts });
  }
}
