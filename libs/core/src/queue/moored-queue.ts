import { Queue, type Job, type JobsOptions, type JobState } from 'bullmq';
import type { QueueOptions, RetryOptions } from 'bullmq';
import type { NewJob } from '../backend/adds.js';
import { createMooredBackend } from '../backend/create-backend.js';
import type { DurableOptions } from '../backend/durable-writes.js';
import type { MooredBackend } from '../backend/moored-backend.js';
import type { FairTurns } from '../model/fair-turns.js';
import type { JobLimits } from '../model/job-limits.js';
import { MooredJob, type Anything } from '../backend/moored-job.js';
import { InvalidJobError } from '../model/errors.js';
import type { Ticket } from '../backend/ticket.js';
import type { OwnersOf } from '../model/owners-of.js';
import { AdoptionSweep, type Adoption, type AdoptOptions } from '../sweeps/adoption.js';
import { BulkRetry, type RetriedJobs, type RetryFilter } from './bulk-retry.js';
import { retryJob } from './retry-job.js';

export interface MooredQueueOptions extends QueueOptions, DurableOptions {
  readonly limits?: JobLimits;
  /** The owners of jobs whose caller names none. */
  readonly ownersOf?: OwnersOf;
  /** Owners take turns, in jobs that do not say otherwise. */
  readonly fair?: boolean | FairTurns;
}

/** BullMQ's queue. Its jobs may name owners; everything else works as in BullMQ. */
export class MooredQueue<Data = Anything, Result = Anything, Name extends string = string> extends Queue<
  Data,
  Result,
  Name
> {
  protected ownersOf: OwnersOf | undefined;
  protected fair: MooredQueueOptions['fair'];

  /** @param opts BullMQ's own defaults hold without them */
  constructor(name: string, opts?: MooredQueueOptions) {
    super(name, opts as MooredQueueOptions, createMooredBackend);
    this.ownersOf = opts?.ownersOf;
    this.fair = opts?.fair;
  }

  protected override get Job(): typeof Job {
    return MooredJob as typeof Job;
  }

  /** Like `add`, and answers a ticket: a new job, or one that was pending already. */
  async enqueue(name: Name, data: Data, opts: JobsOptions = {}): Promise<Ticket> {
    return this.moored.enqueue(this.describe(name, data, opts));
  }

  /** The same for many jobs. One that is refused leaves the others alone. */
  async enqueueBulk(
    jobs: readonly { readonly name: Name; readonly data: Data; readonly opts?: JobsOptions }[],
  ): Promise<PromiseSettledResult<Ticket>[]> {
    return this.moored.enqueueBulk(jobs.map(({ name, data, opts }) => this.describe(name, data, opts)));
  }

  /** The options of a job, with what the queue says: the owners that `ownersOf` has if the caller named none, and their turns. */
  protected withOwners<O extends JobsOptions>(name: string, data: Job['data'], opts?: O): O | undefined {
    if (!this.ownersOf && !this.fair) return opts;
    const owners = opts?.owners ?? this.ownersOf?.({ name, data, opts: opts ?? {}, id: opts?.jobId }) ?? [];
    if (owners.length === 0) return opts;
    return { ...opts, owners, ...(this.fair && opts?.fair === undefined && { fair: this.fair }) } as O;
  }

  private describe(name: Name, data: Data, opts: JobsOptions = {}): NewJob {
    const owned = this.withOwners(name, data, opts);
    return MooredJob.describe(new MooredJob(this, name, data, { ...this.jobsOpts, ...owned }, opts.jobId));
  }

  private get moored(): MooredBackend {
    return this.backend as unknown as MooredBackend;
  }

  protected override addJob(
    ...[name, data, opts]: Parameters<Queue<Data, Result, Name>['add']>
  ): ReturnType<Queue<Data, Result, Name>['add']> {
    return super.addJob(name, data, this.withOwners(name, data, opts));
  }

  override addBulk(
    jobs: Parameters<Queue<Data, Result, Name>['addBulk']>[0],
  ): ReturnType<Queue<Data, Result, Name>['addBulk']> {
    if (!this.ownersOf && !this.fair) return super.addBulk(jobs);
    return super.addBulk(
      jobs.map((job) => ({ ...job, opts: { ...this.withOwners(job.name, job.data, job.opts) } })),
    );
  }

  override upsertJobScheduler(
    ...[id, repeat, template]: Parameters<Queue<Data, Result, Name>['upsertJobScheduler']>
  ): ReturnType<Queue<Data, Result, Name>['upsertJobScheduler']> {
    const opts = this.withOwners(template?.name ?? id, template?.data, template?.opts);
    return super.upsertJobScheduler(id, repeat, { ...template, ...(opts && { opts }) });
  }

  /** A job that has ended waits again, under the present epochs of its owners. Answers the state it is in then. */
  retry(id: string, options?: RetryOptions): Promise<JobState | 'unknown'> {
    return retryJob(id, (jobId) => this.getJob(jobId), options);
  }

  /** Jobs that have ended, and that the filter names, wait again. Those of closed owners keep their error and are counted. */
  retryMatching(filter: RetryFilter = {}): Promise<RetriedJobs> {
    return new BulkRetry(this.moored).retry(filter);
  }

  /**
   * Gives owners to the jobs that wait and are in no index: those that are there already, and those of plain producers. A cancel of an
   * owner then finds them.
   */
  async adopt({ ownersOf = this.ownersOf, ...pages }: AdoptOptions = {}): Promise<Adoption> {
    if (!ownersOf)
      throw new InvalidJobError(
        '`adopt` asks `ownersOf` for the owners of jobs: give it, or the queue, one.',
      );
    return new AdoptionSweep(this.moored, ownersOf).sweepOnce(pages);
  }
}
