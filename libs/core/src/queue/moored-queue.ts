import { Queue, type Job, type JobsOptions, type QueueOptions } from 'bullmq';
import { createMooredBackend, type JobLimits, type MooredBackend } from '../backend/moored-backend.js';
import { MooredJob } from '../backend/moored-job.js';
import { InvalidJobError } from '../model/errors.js';
import type { Ticket } from '../backend/ticket.js';

export interface MooredQueueOptions extends QueueOptions {
  readonly limits?: JobLimits;
}

/** As BullMQ has it for data and results of which nothing is said. */
type Anything = Job['data'];

/** BullMQ's queue. Its jobs may name owners; everything else works as in BullMQ. */
export class MooredQueue<Data = Anything, Result = Anything, Name extends string = string> extends Queue<
  Data,
  Result,
  Name
> {
  constructor(name: string, opts: MooredQueueOptions) {
    super(name, opts, createMooredBackend);
  }

  protected override get Job(): typeof Job {
    return MooredJob as typeof Job;
  }

  /** Like `add`, and says what became of it: a new job, or one that was pending already. */
  async enqueue(name: Name, data: Data, opts: JobsOptions): Promise<Ticket> {
    const job = new this.Job(this, name, data, { ...this.defaultJobOptions, ...opts }, opts.jobId);
    const ticket = await (this.backend as unknown as MooredBackend).enqueue(job.asJSON(), opts.jobId);
    if (!ticket) throw new InvalidJobError('A job that is enqueued has owners; without them use `add`.');
    return ticket;
  }
}
