import { Job, type JobJson, type MinimalQueue } from 'bullmq';
import { ownersOfMark } from '../scripts/mark.js';
import type { RunStop } from '../model/run-stop.js';
import type { NewJob } from './adds.js';

/** As BullMQ has it for data and results of which nothing is said. */
export type Anything = Job['data'];

const NOT_KNOWN = '?';

/** BullMQ's job. Its owners stand among the options that it was added with. */
export class MooredJob extends Job {
  /** Its mark as it was read from the store. */
  #mark = NOT_KNOWN;
  #run: RunStop | undefined;

  static override fromJSON<T = Anything, R = Anything, N extends string = string>(
    queue: MinimalQueue,
    json: JobJson,
    jobId?: string,
  ): Job<T, R, N> {
    const { mooring, ...opts } = json.opts;
    if (mooring !== undefined) opts.owners = ownersOfMark(mooring);
    const job = super.fromJSON<T, R, N>(queue, mooring === undefined ? json : { ...json, opts }, jobId);
    MooredJob.setMark(job, mooring ?? '');
    return job;
  }

  /** Whether the run of this job was told to stop, for code that its worker calls. */
  static runOf(job: object): RunStop | undefined {
    return #run in job ? job.#run : undefined;
  }

  static setRun(job: object, run: RunStop): void {
    if (#run in job) job.#run = run;
  }

  /** A job that is not added by itself, as the backend takes it. What BullMQ refuses of its options is refused here. */
  static describe(job: Job): NewJob {
    const json = job.asJSON();
    if (#mark in job) job.validateOptions(json);
    return { job: json, jobId: job.id };
  }

  /** '' for a job without owners, '?' for one whose mark is not known. */
  static markOf(job: object): string {
    return #mark in job ? job.#mark : NOT_KNOWN;
  }

  /** The job has got owners since it was read. */
  static forgetMark(job: object): void {
    MooredJob.setMark(job, NOT_KNOWN);
  }

  private static setMark(job: object, mark: string): void {
    if (#mark in job) job.#mark = mark;
  }
}
