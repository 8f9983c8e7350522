import type { Job } from 'bullmq';
import type { OwnersOf } from './owners-of.js';

/** What a worker may say beside BullMQ's own options. */
export interface RunOptions {
  /** A run that takes longer is told to stop. */
  readonly runTimeout?: number | string;
  /** How long a run may take to end once it was told to stop. Then it is given up. */
  readonly stopGrace?: number | string;
  /** What holds for one job in place of `runTimeout` and `stopGrace`. */
  readonly limitsOf?: (job: Pick<Job, 'name' | 'opts'>) => Partial<RunLimits> | undefined;
  /** The owners of jobs that name none: those of plain producers. */
  readonly ownersOf?: OwnersOf;
}

export interface RunLimits {
  readonly runTimeoutMs: number | undefined;
  readonly stopGraceMs: number;
}

// What hands BullMQ's options on, such as `@Processor` of @nestjs/bullmq, takes them as well.
declare module 'bullmq/dist/esm/interfaces/worker-options.js' {
  interface WorkerOptions<ConnectionOptionsType> extends RunOptions {}
}
