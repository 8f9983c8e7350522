import type { FairTurns } from './fair-turns.js';

/** How many unfinished jobs an owner, and how many waiting ones a queue may have. */
export interface JobLimits {
  readonly perOwner?: number;
  readonly perQueue?: number;
}

// What hands BullMQ's options on, such as `registerQueue` of @nestjs/bullmq, takes them as well.
declare module 'bullmq/dist/esm/interfaces/queue-options.js' {
  interface QueueOptions<ConnectionOptionsType> {
    /** For jobs that are added through this queue. */
    readonly limits?: JobLimits;
    readonly fair?: boolean | FairTurns;
  }
}
