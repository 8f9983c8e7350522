import type { Job, JobsOptions } from 'bullmq';
import type { Owner } from './owner.js';

/** A job as it is known before it is added, or while it waits. */
export interface UnownedJob {
  readonly name: string;
  readonly data: Job['data'];
  readonly opts: JobsOptions;
  /** Absent for a job that is not added yet and has no id of its caller's. */
  readonly id?: string | undefined;
}

/** The owners of a job that names none; an empty list for a job that has none. */
export type OwnersOf = (job: UnownedJob) => readonly (Owner | string)[];

// What hands BullMQ's options on, such as `registerQueue` of @nestjs/bullmq, takes it as well.
declare module 'bullmq/dist/esm/interfaces/queue-options.js' {
  interface QueueOptions<ConnectionOptionsType> {
    /** The owners of jobs whose caller names none. */
    readonly ownersOf?: OwnersOf;
  }
}
