import {
  createRedisBackend,
  type FinishedPropValAttribute,
  type KeepJobs,
  type MinimalJob,
  raw2NextJobData,
  RedisQueueBackend,
  type BackendFactory,
  type FinishedStatus,
  type FlowJobEntry,
  type JobJson,
  type JobsOptions,
  type ParentKeyOpts,
  type QueueBaseOptions,
  type WorkerOptions,
} from 'bullmq';
import { holdWrite, type Durability, type DurabilityOptions } from '../durability/durability.js';
import { openDurability, StoreDurability } from '../durability/store-durability.js';
import {
  DuplicateJobError,
  DurabilityUnknownError,
  OwnerClosedError,
  SlotLimitError,
} from '../model/errors.js';
import type { JobLimits } from '../model/job-limits.js';
import type { Owner } from '../model/owner.js';
import { composedScripts, defineScripts, runScript } from '../scripts/composed-scripts.js';
import { unescapeText } from '../scripts/escape.js';
import { extendArguments } from '../scripts/extra-arguments.js';
import type { ComposedName } from '../scripts/recipes.js';
import { Adds, type NewJob } from './adds.js';
import { Batch } from './batch.js';
import { FinishRequests } from './finish-request.js';
import { ownerNames, readOwnedOptions, requireOwners } from './owned-options.js';
import { checkPartitionsFirst, refusePartitions, type PartOptions } from './partition-check.js';
import { RunCancelled } from './run-cancelled.js';
import { stopReconnecting } from './stop-reconnecting.js';
import { stepArguments, type Argument, type StepItem } from './step-arguments.js';
import { ticketIn, type Ticket } from './ticket.js';

const MOST_IN_ONE_STEP = 25;

/** What adds jobs, or cancels them, and answers. */
export interface DurableOptions {
  /** What answers wait for; or a port of your own. Default nothing. */
  readonly durability?: DurabilityOptions | Durability;
}

/** BullMQ's Redis backend, with owners inside its steps. */
export class MooredBackend extends RedisQueueBackend {
  /** Runs whose owner was cancelled, as the renewal of their locks said. */
  onCancelled: (jobIds: readonly string[]) => void = () => undefined;
  /** Jobs that were refused at the gate: `<id> <reason>`. */
  onRefused: (refusals: readonly string[]) => void = () => undefined;

  private readonly adds = new Adds({
    queue: this.name,
    prefix: this.keys['']!,
    root: this.redisPrefix,
    limits: (this.queue.opts as { limits?: JobLimits }).limits,
    run: (args) => this.run('add', args),
  });
  private readonly finishes = new Batch<StepItem, unknown>(MOST_IN_ONE_STEP, (runs) => this.finishAll(runs));
  private readonly finishRequests = new FinishRequests(this.queue.opts);
  private readonly durability = openDurability(
    (this.queue.opts as DurableOptions).durability,
    () => this.client,
    this.redisPrefix,
  );
  private schedulerOwners: readonly Argument[] | undefined;

  override async addJob(job: JobJson, jobId: string, parentKeyOpts?: ParentKeyOpts): Promise<string> {
    const owned = readOwnedOptions(job.opts);
    if (!owned) return this.confirmed(() => super.addJob(job, jobId, parentKeyOpts));
    return (await this.confirmed(() => this.adds.one(job, jobId, owned, parentKeyOpts))).id;
  }

  override addJobs(jobs: Parameters<RedisQueueBackend['addJobs']>[0]): Promise<string[]> {
    return this.confirmed(() => this.addMany(jobs));
  }

  private async addMany(jobs: Parameters<RedisQueueBackend['addJobs']>[0]): Promise<string[]> {
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
    const owned = requireOwners(readOwnedOptions(job.opts));
    return this.confirmed(() => this.adds.one(job, jobId, owned));
  }

  /** The ticket of each job, or why it was refused; all of them have owners. */
  async enqueueBulk(jobs: readonly NewJob[]): Promise<PromiseSettledResult<Ticket>[]> {
    const owned = jobs.map(({ job }) => requireOwners(readOwnedOptions(job.opts)));
    const { value, isHeld } = await this.hold(() => this.adds.many(jobs, owned));
    return isHeld === false ? value.map(unconfirmed) : value;
  }

  override addFlow(entries: FlowJobEntry[]): Promise<[Error | null, string | number][]> {
    return this.confirmed(() => this.addFlowInOneStep(entries));
  }

  private async addFlowInOneStep(entries: FlowJobEntry[]): Promise<[Error | null, string | number][]> {
    const owned = entries.map(({ jobData }) => readOwnedOptions(jobData.opts));
    if (!owned.some((options) => options)) return super.addFlow(entries);
    return (await this.adds.flow(entries, owned)).map(({ id }) => [null, id]);
  }

  override async addJobScheduler(
    ...[id, nextMillis, templateData, templateOpts, opts, jobOpts, producerId]: Parameters<
      RedisQueueBackend['addJobScheduler']
    >
  ): Promise<[string, number]> {
    const owned = readOwnedOptions(jobOpts);
    // A view of this backend that carries the owners to the step in which the scheduler is stored.
    const view: MooredBackend = Object.create(this) as MooredBackend;
    view.schedulerOwners = [owned?.names ?? '', owned?.needs || '||', this.keys['']!, this.redisPrefix];
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

  /** A turn plans the next one: its owners come from the mark of the turn, not from its options. */
  override async updateJobSchedulerNextMillis(
    ...[id, nextMillis, data, jobOpts, producerId]: Parameters<
      RedisQueueBackend['updateJobSchedulerNextMillis']
    >
  ): Promise<string | null> {
    const plain = withoutOwners(jobOpts);
    const job = await super.updateJobSchedulerNextMillis(id, nextMillis, data, plain, producerId);
    if (job !== 'ended') return job;
    if (producerId) this.onCancelled([producerId]);
    return null;
  }

  override execCommand(client: never, commandName: string, args: Argument[]): unknown {
    if (commandName === 'addJobScheduler' && this.schedulerOwners) {
      return runScript(client, 'addJobScheduler', [
        ...args.map((arg) => arg ?? ''),
        ...this.schedulerOwners,
      ]).then(orThrow);
    }
    const extended = extendArguments(commandName, args, { root: this.redisPrefix, prefix: this.keys['']! });
    if (!extended && this.redisPrefix.includes('{')) return runScript(client, commandName as never, args);
    if (!extended) return super.execCommand(client, commandName, args as never);
    const answer = runScript(client, commandName as ComposedName, extended);
    return answer.then((value) => this.readAnswer(commandName, value, args));
  }

  private readAnswer(commandName: string, answer: unknown, args: readonly Argument[]): unknown {
    if (answer === 'cancelled') throw new RunCancelled(String(args.at(-1)));
    if (commandName === 'extendLocks') {
      const [lost, cancelled] = answer as [string[], string[]];
      if (cancelled.length > 0) this.onCancelled(cancelled);
      return lost;
    }
    this.readFetched(answer);
    return orThrow(answer);
  }

  /** What BullMQ does not read of an answer that may hold the next job. */
  private readFetched(answer: unknown): void {
    if (!Array.isArray(answer)) return;
    const refused: unknown = answer[4];
    if (Array.isArray(refused)) this.onRefused(refused as string[]);
  }

  /** Gives a job without a mark its owners. Answers false if one of them is closed: the job has ended then. */
  async adopt(jobId: string, token: string, owners: readonly (Owner | string)[]): Promise<boolean> {
    const prefix = this.keys['']!;
    const answer = await this.run('adopt', [
      prefix + jobId,
      this.redisPrefix,
      prefix,
      jobId,
      token,
      ownerNames(owners).join('|'),
    ]);
    if (typeof answer === 'number')
      throw this.finishedErrors({ code: answer, jobId, command: 'adopt', state: 'active' });
    return answer === 'adopted';
  }

  override retryFinishedJobs(
    state: FinishedStatus = 'failed',
    count = 1000,
    timestamp = Date.now(),
  ): Promise<number> {
    return this.waitAll(this.moveJobsToWaitArgs(state, count, timestamp));
  }

  override promoteJobs(count = 1000): Promise<number> {
    return this.waitAll(this.moveJobsToWaitArgs('delayed', count, Number.MAX_VALUE));
  }

  /** Jobs that stay as they are would be read again by BullMQ's loop: each page begins behind those of the pages before. */
  private async waitAll(args: readonly Argument[]): Promise<number> {
    let page: [more: number, passedOver: number] = [1, 0];
    while (page[0] === 1) {
      page = (await this.run('moveJobsToWait', [
        ...args,
        this.keys['']!,
        this.redisPrefix,
        page[1],
      ])) as typeof page;
    }
    return 0;
  }

  /** Ends a turn of a scheduler that came too late to start. Answers why it ended: an owner may have been cancelled meanwhile. */
  async endExpired(jobId: string, token: string): Promise<'expired' | 'cancelled'> {
    const prefix = this.keys['']!;
    const answer = await this.run('endExpired', [prefix + jobId, this.redisPrefix, prefix, jobId, token]);
    if (typeof answer === 'number')
      throw this.finishedErrors({ code: answer, jobId, command: 'endExpired', state: 'active' });
    return answer as 'expired' | 'cancelled';
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
    if (typeof answer === 'number' && answer < 0) {
      throw this.finishedErrors({ code: answer, jobId, command: 'moveToFinished', state: 'active' });
    }
    if (Array.isArray(answer) && answer[0] === 'error') throw new Error(String(answer[1]));
    this.readFetched(answer);
    return raw2NextJobData(answer as never) as never;
  }

  private async finishAll(runs: readonly StepItem[]): Promise<unknown[]> {
    const head = [this.keys['marker']!, this.redisPrefix, this.keys['']!];
    return (await this.run('finish', stepArguments(head, runs))) as unknown[];
  }

  override forQueue(queueName: string, prefix?: string): MooredBackend {
    const plain = super.forQueue(queueName, prefix) as RedisQueueBackend;
    return new MooredBackend(
      this.connection,
      queueName,
      plain.keys,
      (type) => plain.toKey(type),
      { ...this.queue.opts, prefix: prefix ?? this.redisPrefix } as QueueBaseOptions,
      this.blockingConnection,
      false,
    );
  }

  /** Runs a write whose answer is held back until it is durable. What is refused is answered at once. */
  private async confirmed<Answer>(write: () => Promise<Answer>): Promise<Answer> {
    if (!this.durability) return write();
    const { value, isHeld } = await this.hold(write);
    if (!isHeld) throw new DurabilityUnknownError(value);
    return value;
  }

  /** Runs a write, and says whether it is durable; `isHeld` is undefined when that was not asked for. */
  hold<Answer>(
    write: () => Promise<Answer>,
  ): Promise<{ readonly value: Answer; readonly isHeld: boolean | undefined }> {
    return holdWrite(this.durability, write);
  }

  /** In BullMQ a worker that is closed while this connection waits to reconnect is never told that the connection has ended. */
  override async disconnectBlocking(wait?: boolean): Promise<void> {
    const client = await this.blockingConnection?.client;
    if (client) stopReconnecting(client);
    await super.disconnectBlocking(wait);
  }

  override async close(force?: boolean): Promise<void> {
    if (this.durability instanceof StoreDurability) this.durability.close();
    await super.close(force);
  }

  async run(name: ComposedName, args: readonly Argument[]): Promise<unknown> {
    return runScript(await this.client, name, args);
  }

  get root(): string {
    return this.redisPrefix;
  }
}

function unconfirmed(result: PromiseSettledResult<Ticket>): PromiseSettledResult<Ticket> {
  if (result.status === 'rejected') return result;
  return { status: 'rejected', reason: new DurabilityUnknownError(result.value) };
}

/** BullMQ's own arguments, in whose place the request stands. */
type Finished = (string | number | boolean | Buffer)[];
type FinishArguments = Finished & { request?: StepItem };

function withoutOwners(opts: JobsOptions): JobsOptions {
  const { owners: _, ...rest } = opts;
  return rest;
}

function orThrow(answer: unknown): unknown {
  if (!Array.isArray(answer)) return answer;
  if (answer[0] === 'closed') throw new OwnerClosedError(unescapeText(String(answer[1])));
  if (answer[0] === 'slot-limit') throw new SlotLimitError(Number(answer[1]));
  if (answer[0] === 'pending') throw new DuplicateJobError(String(answer[1]));
  return answer;
}

export const createMooredBackend: BackendFactory<MooredBackend> = (name, opts, options) => {
  // What cannot be right is refused where the queue is made, before a connection is opened.
  composedScripts();
  refusePartitions(opts as { partitions?: number });
  const plain = createRedisBackend(name, opts, options);
  // It has no users of its own: its connections are handed on, and the moored backend forwards their errors.
  plain.on('error', () => undefined);
  // Before anything runs: all who await the client afterwards find the scripts.
  const { connection } = plain;
  void connection.client.then(
    (client) => defineScripts(client, connection.redisVersion),
    () => undefined,
  );
  checkPartitionsFirst(connection, opts as PartOptions, name);
  return new MooredBackend(
    connection,
    name,
    plain.keys,
    (type) => plain.toKey(type),
    opts,
    plain.blockingConnection,
  );
};
