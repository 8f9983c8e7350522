import { MooredQueue, type JobLimits, type MooredQueueOptions } from '#core';
import type { ForQueueOptions } from '../options.js';

/** The queue that BullModule makes. It gets the options of `forQueue` when the modules of its application are initialized. */
export class RegisteredQueue extends MooredQueue {
  private readonly given: MooredQueueOptions;

  constructor(name: string, opts: MooredQueueOptions) {
    // The backend keeps this object and reads it at each add.
    const limits: JobLimits = { ...opts.limits };
    super(name, { ...opts, limits });
    this.given = opts;
  }

  get hasOwnersOf(): boolean {
    return this.ownersOf !== undefined;
  }

  /** Options that were given to `registerQueue` win. */
  configure({ ownersOf, limits, fair }: ForQueueOptions): void {
    this.ownersOf = this.given.ownersOf ?? ownersOf;
    this.fair = this.given.fair ?? fair;
    if (!this.given.limits) Object.assign(this.opts.limits!, limits);
  }
}
