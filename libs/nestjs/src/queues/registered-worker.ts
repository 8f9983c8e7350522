import { MooredWorker, type MooredWorkerOptions } from '#core';
import type { Processor } from 'bullmq';
import { backoffMs } from '../kinds/backoff.js';
import { limitsOfKind } from '../kinds/limits.js';
import { optionsOfStartingQueue } from './starting-application.js';

/** The worker that BullModule makes, with the options that `forQueue` has for its queue. Those of `@Processor` win. */
export class RegisteredWorker extends MooredWorker {
  constructor(name: string, processor: Processor | string | URL | null, opts: MooredWorkerOptions) {
    const ofKinds = { limitsOf: limitsOfKind, settings: { backoffStrategy: backoffMs } };
    super(name, processor, { ...ofKinds, ...optionsOfStartingQueue(name), ...opts });
  }
}
