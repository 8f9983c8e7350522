import {
  raw2NextJobData,
  RedisQueueBackend,
  type FinishedPropValAttribute,
  type FinishedStatus,
  type FlowJobEntry,
  type JobJson,
  type KeepJobs,
  type MinimalJob,
  type ParentKeyOpts,
  type QueueBaseOptions,
  type WorkerOptions,
} from 'bullmq';
import type { JobLimits } from '../model/job-limits.js';
import { Adds, type NewJob } from './adds.js';
import { Batch } from './batch.js';
import { DurableWrites, type DurableOptions } from './durable-writes.js';
import { FinishRequests } from './finish-request.js';
import { readFlowOptions, readOwnedOptions, requireOwners } from './owned-options.js';
import { RunCancelled } from './run-cancelled.js';
import { ScriptedBackend } from './scripted-backend.js';
import { stepArguments, type Argument, type StepItem } from './step-arguments.js';
import { ticketIn, type Ticket } from './ticket.js';

const PACE = { most: 25, mostOfSlow: 20, stepsUnderWay: 2 };

type Adding = Parameters<RedisQueueBackend['addJobs']>[0];
type Scheduling = Parameters<RedisQueueBackend['addJobScheduler']>;
type Rescheduling = Parameters<RedisQueueBackend['updateJobSchedulerNextMillis']>;
type FlowAnswer = Awaited<ReturnType<RedisQueueBackend['addFlow']>>;

/** BullMQ's Redis backend, with owners inside its steps. */
export class MooredBackend extends ScriptedBackend {
  readonly writes = new DurableWrites(this.queue.opts as DurableOptions, () => this.client, this.root);

  private readonly adds = new Adds({
    ...this.place,
    queue: this.name,
    limits: (this.queue.opts as { limits?: JobLimits }).limits,
    run: (args) => this.run('add', args),
  });
  private readonly finishes = new Batch<StepItem, unknown>(PACE, (runs) => this.finishAll(runs));
  private readonly finishRequests = new FinishRequests(this.queue.opts);
  /** Those of the scheduler that is stored, and what its jobs need. */
  private schedulerOwners: readonly string[] = [];

  override async addJob(job: JobJson, jobId: string, parentKeyOpts?: ParentKeyOpts): Promise<string> {
    const owned = readOwnedOptions(job.opts);
    if (!owned) return this.writes.confirm(() => super.addJob(job, jobId, parentKeyOpts));
    return (await this.writes.confirm(() => this.adds.one(job, jobId, owned, parentKeyOpts))).id;
  }

  override addJobs(jobs: Adding): Promise<string[]> {
    return this.writes.confirm(() => this.addMany(jobs));
  }

  private async addMany(jobs: Adding): Promise<string[]> {
    const owned = jobs.map(({ job }) => readOwnedOptions(job.opts));
    const [owners, plain] = [jobs.filter((_, i) => owned[i]), jobs.filter((_, i) => !owned[i])];
    const tickets = await this.adds.many(
      owners,
      owned.filter((each) => each !== undefined),
    );
    const plainIds = plain.length > 0 ? await super.addJobs(plain) : [];
    return owned.map((options) => (options ? ticketIn(tickets.shift()!).id : plainIds.shift()!));
  }

  async enqueue({ job, jobId }: NewJob): Promise<Ticket> {
    const owned = requireOwners(job.opts);
    return this.writes.confirm(() => this.adds.one(job, jobId, owned));
  }

  /** The ticket of each job, or why it was refused; all of them have owners. */
  async enqueueBulk(jobs: readonly NewJob[]): Promise<PromiseSettledResult<Ticket>[]> {
    const owned = jobs.map(({ job }) => requireOwners(job.opts));
    return this.writes.confirmEach(() => this.adds.many(jobs, owned));
  }

  override addFlow(entries: FlowJobEntry[]): Promise<FlowAnswer> {
    return this.writes.confirm(() => this.addFlowInOneStep(entries));
  }

  private async addFlowInOneStep(entries: FlowJobEntry[]): Promise<FlowAnswer> {
    const owned = entries.map(({ jobData }) => readFlowOptions(jobData.opts));
    if (!owned.some((options) => options)) return super.addFlow(entries);
    return (await this.adds.flow(entries, owned)).map(({ id }) => [null, id]);
  }

  override async addJobScheduler(
    ...[id, nextMillis, templateData, templateOpts, opts, jobOpts, producerId]: Scheduling
  ): Promise<[string, number]> {
    const owned = readOwnedOptions(jobOpts);
    // A view of this backend that carries the owners to the step in which the scheduler is stored.
    const view: MooredBackend = Object.create(this) as MooredBackend;
    view.schedulerOwners = [owned?.names ?? '', owned?.needs || '||'];
    // Its turns have it in their options, for the turns after them.
    const lasting = owned && owned.lifeMs !== '' ? { expiresIn: owned.lifeMs } : {};
    const plain = owned ? { ...owned.rest, ...lasting } : jobOpts;
    return super.addJobScheduler.call(
      view,
      id,
      nextMillis,
      templateData,
      templateOpts,
      opts,
      plain,
      producerId,
    );
  }

  override execCommand(client: never, commandName: string, args: Argument[]): unknown {
    const further = commandName === 'addJobScheduler' ? this.schedulerOwners : [];
    return super.execCommand(client, commandName, [...args, ...further]);
  }

  /** A turn plans the next one: its owners come from the mark of the turn, not from its options. */
  override async updateJobSchedulerNextMillis(
    ...[id, nextMillis, data, jobOpts, producerId]: Rescheduling
  ): Promise<string | null> {
    const { owners: _, ...plain } = jobOpts;
    const job = await super.updateJobSchedulerNextMillis(id, nextMillis, data, plain, producerId);
    if (job !== 'ended') return job;
    if (producerId) this.onCancelled([producerId]);
    return null;
  }

  /** BullMQ reads the time of the end where it expects it among the arguments; `moveToFinished` takes the request. */
  protected override moveToFinishedArgs(
    job: MinimalJob,
    result: Argument | undefined,
    property: FinishedPropValAttribute,
    shouldRemove: undefined | boolean | number | KeepJobs,
    target: FinishedStatus,
    token: string,
    timestamp: number,
    fetchesNext = true,
    fields?: Record<string, unknown>,
  ): Finished {
    const { removeOnComplete, removeOnFail } = this.queue.opts as WorkerOptions;
    const request = this.finishRequests.of({
      job,
      result: result === undefined ? 'null' : result,
      property,
      target,
      token,
      timestamp,
      fetchesNext: fetchesNext && !this.queue.closing,
      keepJobs: this.getKeepJobs(shouldRemove, target === 'completed' ? removeOnComplete : removeOnFail),
      fields,
    });
    const args: FinishArguments = [];
    args[this.moveToFinishedKeys.length + 1] = timestamp;
    args.request = request;
    return args;
  }

  override async moveToFinished(jobId: string, args: Finished): Promise<never> {
    const answer = await this.finishes.add((args as FinishArguments).request!);
    if (answer === 'cancelled') throw new RunCancelled(jobId);
    if (typeof answer === 'number' && answer < 0) throw this.errorOf(answer, jobId, 'moveToFinished');
    if (Array.isArray(answer) && answer[0] === 'error') throw new Error(String(answer[1]));
    this.readRefused(answer);
    return raw2NextJobData(answer as never) as never;
  }

  private async finishAll(runs: readonly StepItem[]): Promise<unknown[]> {
    const { prefix, root } = this.place;
    return (await this.run('finish', stepArguments([`${prefix}marker`, root, prefix], runs))) as unknown[];
  }

  override forQueue(queueName: string, prefix?: string): MooredBackend {
    const plain = super.forQueue(queueName, prefix) as RedisQueueBackend;
    return new MooredBackend(
      this.connection,
      queueName,
      plain.keys,
      (type) => plain.toKey(type),
      { ...this.queue.opts, prefix: prefix ?? this.root } as QueueBaseOptions,
      this.blockingConnection,
      false,
    );
  }

  override async close(force?: boolean): Promise<void> {
    this.writes.close();
    await super.close(force);
  }
}

/** BullMQ's own arguments, in whose place the request stands. */
type Finished = (string | number | boolean | Buffer)[];
type FinishArguments = Finished & { request?: StepItem };
