import { UnrecoverableError, Worker, type Job, type Processor, type WorkerOptions } from 'bullmq';
import { setTimeout as pause } from 'node:timers/promises';
import { createMooredBackend } from '../backend/create-backend.js';
import type { MooredBackend } from '../backend/moored-backend.js';
import { MooredJob, type Anything } from '../backend/moored-job.js';
import { ownerNames } from '../backend/owned-options.js';
import { RunCancelled } from '../backend/run-cancelled.js';
import { durationMs } from '../model/duration.js';
import { formatOwner } from '../model/owner.js';
import { CleanUp, passAll } from '../owners/clean-up.js';
import { OwnerStore } from '../owners/owner-store.js';
import type { RunLimits, RunOptions } from '../model/run-options.js';
import { AnnouncedCancels } from './announced-cancels.js';
import { CancelListener } from './cancel-listener.js';
import { RunAbandoned, RunHandedBack, RunWatch } from './run-watch.js';
import { readRefusal, type EventOf, type Listener, type RefusedJob } from './worker-events.js';

const DEFAULT_STOP_GRACE = '5s';
const LOOKS_AGAIN_MS = 20;
const CONNECTS_WITHIN_MS = 1_000;
/** BullMQ's codes for a run that is no longer the job's: the job is gone, or its lock, or it is another run's. */
const LOST_CODES: readonly unknown[] = [-1, -2, -3, -6];

export interface ShutdownOptions {
  readonly finishWithin?: number | string;
  readonly stopWithin?: number | string;
}

export interface MooredWorkerOptions extends WorkerOptions, RunOptions {}

type Completed<D, R, N extends string> = Parameters<Worker<D, R, N>['handleCompleted']>;
type Processed<D, R, N extends string> = Parameters<Worker<D, R, N>['processJob']>;
type NextJob = Parameters<Worker['nextJobFromJobData']>;
type Failed<D, R, N extends string> = Parameters<Worker<D, R, N>['handleFailed']>;

/** BullMQ's worker. Jobs of cancelled owners do not come to it, and their running ones are told to stop. */
// eslint-disable-next-line typescript/no-unsafe-declaration-merging -- the interface declares what BullMQ's class has
export class MooredWorker<Data = Anything, Result = Anything, Name extends string = string> extends Worker<
  Data,
  Result,
  Name
> {
  private readonly runs = new Map<string, RunWatch<Result>>();
  /** By their jobs: runs, and the steps that end them. */
  private readonly underWay = new Map<string, Promise<unknown>>();
  private readonly announced = new AnnouncedCancels();
  private readonly lateTurns = new Set<string>();
  private readonly limits: RunLimits;
  private readonly limitsOf: MooredWorkerOptions['limitsOf'];
  private readonly ownersOf: MooredWorkerOptions['ownersOf'];
  private readonly moored: MooredBackend;
  private listener: CancelListener | undefined;
  private handsBack = false;

  constructor(
    name: string,
    processor: Processor<Data, Result, Name> | string | URL | null,
    opts: MooredWorkerOptions,
  ) {
    super(name, processor, { ...opts, autorun: false }, createMooredBackend);
    const { runTimeout, stopGrace = DEFAULT_STOP_GRACE, limitsOf, ownersOf } = opts;
    this.limits = {
      runTimeoutMs: runTimeout === undefined ? undefined : durationMs('runTimeout', runTimeout),
      stopGraceMs: durationMs('stopGrace', stopGrace),
    };
    this.limitsOf = limitsOf;
    this.ownersOf = ownersOf;
    this.moored = this.backend as unknown as MooredBackend;
    this.moored.onCancelled = (jobIds) => jobIds.forEach(this.stopCancelled);
    this.moored.onRefused = (lines) => lines.forEach(this.noteRefusal);
    this.moored.onStalledCheck = () => void this.resumeCancels();
    this.on('lockRenewalFailed', (jobIds: string[]) =>
      jobIds.forEach((jobId) => this.runs.get(jobId)?.stop('lost')),
    );
    if (processor && opts.autorun !== false) this.run().catch((error: Error) => this.emit('error', error));
  }

  /** A worker that runs nothing itself needs no connection to hear of cancels. */
  override run(): Promise<void> {
    if (!this.listener && !this.closing) {
      this.listener = CancelListener.of(this.opts.connection, this.moored.root);
      this.listener.listen(this.name, this.stopCancelled);
    }
    return super.run();
  }

  protected override get Job(): typeof Job {
    return MooredJob as typeof Job;
  }

  override cancelJob(jobId: string, reason?: string): boolean {
    const run = this.runs.get(jobId);
    run?.abort(reason);
    return super.cancelJob(jobId, reason) || run !== undefined;
  }

  override cancelAllJobs(reason?: string): void {
    for (const run of this.runs.values()) run.abort(reason);
    super.cancelAllJobs(reason);
  }

  private readonly stopCancelled = (jobId: string): void => {
    const run = this.runs.get(jobId);
    if (run) run.stop('cancelled');
    else this.announced.remember(jobId);
  };

  /** Goes on with cancels whose process has died, or whose runs ended since. */
  private async resumeCancels(): Promise<void> {
    await passAll(new CleanUp(new OwnerStore(this.moored))).catch((error: Error) => {
      if (!this.closing) this.emit('error', error);
    });
  }

  private readonly noteRefusal = (line: string): void => {
    const { id, reason } = readRefusal(line);
    if (reason === 'late') this.lateTurns.add(id);
    else this.emit('refused', { id, reason });
  };

  protected override nextJobFromJobData(...[data, jobId, token]: NextJob): Promise<Job<Data, Result, Name>> {
    const owners = data && this.ownersNamedFor(data, jobId!);
    if (!data || (!owners && this.lateTurns.size === 0)) return super.nextJobFromJobData(data, jobId, token);
    return this.nextJobAsked(owners, data, jobId!, token!);
  }

  /** The next job when the store is asked about it first: it gets its owners, or its turn of a scheduler may be over. */
  private async nextJobAsked(
    owners: string[] | undefined,
    data: NonNullable<NextJob[0]>,
    jobId: string,
    token: string,
  ): Promise<Job<Data, Result, Name>> {
    // Before BullMQ plans the next turn of the job's scheduler: that turn has the same owners, or there is none.
    if (owners && !(await this.mayRun(jobId, () => this.moored.adopt(jobId, token, owners))))
      return this.fetchAnother(token);
    const isLate = this.lateTurns.delete(jobId);
    const read = owners ? { ...data, opts: { ...data.opts, owners } } : data;
    const job = await super.nextJobFromJobData(read, jobId, token);
    if (!job) return job;
    if (owners) MooredJob.forgetMark(job);
    if (isLate && !(await this.mayRun(jobId, () => this.moored.endUnkept(jobId, token, 'expired'))))
      return this.fetchAnother(token);
    return job;
  }

  /**
   * The owners of a job that a plain producer added: those that it names, or those that `ownersOf` does. A job of which they cannot be
   * told runs as in plain BullMQ.
   */
  private ownersNamedFor(data: NonNullable<NextJob[0]>, jobId: string): string[] | undefined {
    if (data.opts.mooring !== undefined || !(data.opts.owners ?? this.ownersOf)) return undefined;
    try {
      const job = this.createJob(data, jobId);
      const owners = job.opts.owners ?? this.ownersOf?.(job) ?? [];
      if (owners.length === 0) return undefined;
      ownerNames(owners);
      return owners.map((each) => (typeof each === 'string' ? each : formatOwner(each)));
    } catch (error) {
      this.emit(
        'error',
        new Error(`The owners of job ${jobId} cannot be told; it runs without.`, { cause: error }),
      );
      return undefined;
    }
  }

  /**
   * What goes wrong here belongs to this job, which is fetched again when its lock has run out: an error that is thrown would count
   * against the job that has just ended.
   */
  private async mayRun(
    jobId: string,
    ask: () => Promise<RefusedJob['reason'] | undefined>,
  ): Promise<boolean> {
    try {
      const reason = await ask();
      if (reason) this.emit('refused', { id: jobId, reason });
      return !reason;
    } catch (error) {
      this.emit('error', error as Error);
      return false;
    }
  }

  private async fetchAnother(token: string): Promise<Job<Data, Result, Name>> {
    return this.closing || this.isPaused() ? (undefined as never) : this.moveToActive(token, this.opts.name);
  }

  /**
   * A job whose lock was lost may come to this worker again while its run goes on. That run ends first: at its end BullMQ forgets the
   * lock and the signal that this worker has for the job.
   */
  override async processJob(...args: Processed<Data, Result, Name>): Promise<void | Job<Data, Result, Name>> {
    const id = args[0].id!;
    for (let earlier = this.underWay.get(id); earlier; earlier = this.underWay.get(id)) {
      this.runs.get(id)?.stop('lost');
      await earlier;
    }
    const done = super.processJob(...args).finally(() => this.underWay.delete(id));
    this.underWay.set(
      id,
      done.catch(() => undefined),
    );
    return done;
  }

  protected override async callProcessJob(
    job: Job<Data, Result, Name>,
    token: string,
    signal?: AbortSignal,
  ): Promise<Result> {
    const id = job.id!;
    const limits = this.limitsOf ? { ...this.limits, ...this.limitsOf(job) } : this.limits;
    const watch = new RunWatch<Result>((reason) => this.cancelJob(id, reason), limits);
    this.runs.set(id, watch);
    MooredJob.setRun(job, watch);
    try {
      // The renewal of its lock says whether the run that is about to begin is the one that was cancelled.
      if (this.announced.take(id))
        await this.extendJobLocks([id], [token], this.opts.lockDuration!).catch(() => undefined);
      if (this.handsBack) watch.stop('shutdown');
      if (watch.stopped) throw new Error(`The run was told to stop (${watch.stopped}) before it began.`);
      return await watch.follow(super.callProcessJob(job, token, signal));
    } catch (error) {
      throw watch.stopped === 'shutdown' ? new RunHandedBack() : error;
    } finally {
      watch.end();
      this.runs.delete(id);
    }
  }

  protected override async handleCompleted(
    ...args: Completed<Data, Result, Name>
  ): Promise<Job<Data, Result, Name>> {
    try {
      return await super.handleCompleted(...args);
    } catch (error) {
      return this.goOnIfOver(error, args);
    }
  }

  protected override async handleFailed(
    ...args: Failed<Data, Result, Name>
  ): Promise<Job<Data, Result, Name>> {
    const [cause, job, token, ...rest] = args;
    try {
      // The store has ended the job already, when its processor tried to give it back.
      if (cause instanceof RunCancelled) throw cause;
      if (cause instanceof RunHandedBack) return (await job.moveToWait(token)) as never;
      // What ends it is told why, which counts in the receipt. A step that gives it back to be tried again is not.
      const isOver = cause instanceof RunAbandoned && cause.reason === 'cancelled';
      const said = isOver ? new UnrecoverableError(cause.message) : cause;
      return await super.handleFailed(said, job, token, ...rest);
    } catch (error) {
      return this.goOnIfOver(error, args);
    }
  }

  /** A run that was cancelled, or lost to another worker, is neither completed nor failed. The worker goes on with the next job. */
  private async goOnIfOver(
    error: unknown,
    [, job, token, fetchesNext = () => true]: Completed<Data, Result, Name> | Failed<Data, Result, Name>,
  ): Promise<Job<Data, Result, Name>> {
    const isLost = job.opts.owners && LOST_CODES.includes((error as { code?: unknown }).code);
    if (!(error instanceof RunCancelled) && !isLost) throw error;
    this.emit(isLost ? 'lost' : 'cancelled', job);
    if (isLost) this.emit('error', error as Error);
    return fetchesNext() ? this.fetchAnother(token) : (undefined as never);
  }

  /**
   * Fetches no more jobs and gives the running ones `finishWithin` to end. Those that have not are told to stop, and handed to
   * other workers; that counts as no attempt. `stopWithin` replaces their `stopGrace`.
   */
  async shutdown({ finishWithin = '10s', stopWithin }: ShutdownOptions = {}): Promise<void> {
    await this.pause(true);
    const until = Date.now() + durationMs('finishWithin', finishWithin);
    while (this.runs.size > 0 && Date.now() < until) await pause(LOOKS_AGAIN_MS);
    // A fetch that was under way when the worker paused may still bring a job.
    this.handsBack = true;
    const graceMs = stopWithin === undefined ? undefined : durationMs('stopWithin', stopWithin);
    for (const run of this.runs.values()) run.stop('shutdown', graceMs);
    await this.close();
  }

  override async close(force?: boolean): Promise<void> {
    // BullMQ would wait for a store that has never been there. Without a connection there was no run either.
    const connected = Promise.allSettled([this.backend.waitUntilReady()]);
    const canEnd =
      this.closing ?? (await Promise.race([connected, pause(CONNECTS_WITHIN_MS, false, { ref: false })]));
    await super.close(force || !canEnd);
    await this.listener?.leave(this.name, this.stopCancelled);
  }
}

/** BullMQ's signatures, with the events of a moored worker. */
export interface MooredWorker<Data, Result, Name extends string> {
  on<E extends EventOf<Data, Result, Name>>(event: E, listener: Listener<Data, Result, Name, E>): this;
  once<E extends EventOf<Data, Result, Name>>(event: E, listener: Listener<Data, Result, Name, E>): this;
  off<E extends EventOf<Data, Result, Name>>(event: E, listener: Listener<Data, Result, Name, E>): this;
  emit<E extends EventOf<Data, Result, Name>>(
    event: E,
    ...args: Parameters<Listener<Data, Result, Name, E>>
  ): boolean;
}
