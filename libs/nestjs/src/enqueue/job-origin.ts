import type { Job } from 'bullmq';

/** Who asked for a job. It is stored with the job, so that the log lines of its runs can say so. */
export interface JobOrigin {
  readonly requestId?: string | undefined;
  /** The name of the caller. */
  readonly caller?: string | undefined;
}

export function originOf({ opts }: Pick<Job, 'opts'>): JobOrigin {
  return opts.origin ?? {};
}

// Stored by BullMQ beside its own options.
declare module 'bullmq/dist/esm/interfaces/base-job-options.js' {
  interface BaseJobOptions {
    readonly origin?: JobOrigin;
  }
}
