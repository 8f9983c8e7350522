import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Worker, type Job } from 'bullmq';
import { Journal } from '../journal.js';
import { factsOf } from '../kinds/envelope.js';
import { KindRegistry } from '../kinds/kind.registry.js';
import type { Kind } from '../kinds/kind.js';
import { EndedError, failedOfChild, readFailure } from '../kinds/outcome.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions, type WorkerOptions } from '../options.js';
import { queuePrefix } from '../queues.js';
import { Settler } from '../settle/settler.js';
import { HandlerRegistry } from './handler.registry.js';
import { JobRunner } from './job-runner.js';
import { LifecycleProcessor } from './lifecycle.processor.js';
import { RunningJobs } from './running-jobs.js';
import { RunLost } from './stop-reasons.js';

/** Of the time a process has to stop: the part in which running jobs may simply end, and that in which they obey. */
const SHARE_FOR_ENDING = 0.6;
const SHARE_FOR_OBEYING = 0.2;
/** How long the store may be away at the end, with nothing running, before it is no longer waited for. */
const STORE_AWAY_MS = 1_000;
const LOOK_EVERY_MS = 50;
/** A job may lose this many workers; the next one ends it failed: it is likely what kills them. */
const MAX_LOST_WORKERS = 3;

/** Starts a BullMQ worker for each queue this process takes, once the application stands; stops them in order. */
@Injectable()
export class QueueWorkers implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly workers = new Map<string, Worker>();

  constructor(
    private readonly options: LifecycleOptions,
    private readonly processor: LifecycleProcessor,
    private readonly runner: JobRunner,
    private readonly settler: Settler,
    private readonly kinds: KindRegistry,
    private readonly handlers: HandlerRegistry,
    private readonly running: RunningJobs,
    private readonly journal: Journal,
  ) {}

  /** The queues this process takes jobs from. */
  queues(): string[] {
    return [...this.workers.keys()];
  }

  // Only here, not earlier: before this hook some module may not be ready for a job.
  onApplicationBootstrap(): void {
    const { worker } = this.options;
    if (!worker) return;
    const kinds = this.kindsTaken(worker);
    const queues = [...new Set(kinds.map((kind) => kind.queue))];
    this.handlers.find(this.kinds.all().filter((kind) => queues.includes(kind.queue)));

    for (const queue of queues) this.start(queue, worker);
    this.journal.workerStarted(
      queues,
      kinds.map((kind) => kind.name),
    );
  }

  /** Before anything is closed: a run that ends now may still need the queues. */
  async beforeApplicationShutdown(): Promise<void> {
    this.running.beginDraining();
    if (this.workers.size === 0) return;
    const began = Date.now();
    const drainMs = this.options.worker?.drainMs ?? LIFECYCLE_DEFAULTS.drainMs;
    this.journal.workerDraining(this.running.count);

    const closing = new AbortController();
    const closed = this.closeAll().finally(() => closing.abort());
    const ended = Promise.race([closed, this.nothingLeftWithoutStore(closing.signal)]);
    if (!(await within(drainMs * SHARE_FOR_ENDING, ended))) {
      this.running.stopAll(drainMs * SHARE_FOR_OBEYING);
      await within(drainMs * (1 - SHARE_FOR_ENDING), ended);
    }
    if (!closing.signal.aborted) this.leave();
    await within(STORE_AWAY_MS, this.settler.settled());
    this.journal.workerDrained(Date.now() - began, this.running.count);
  }

  private kindsTaken({ kinds }: WorkerOptions): Kind[] {
    const known = this.kinds.all();
    if (!kinds) return known;
    const unknown = kinds.filter((name) => !this.kinds.has(name));
    if (unknown.length > 0) {
      const names = known.map(({ name }) => name).toSorted();
      throw new TypeError(
        `This worker is to take "${unknown.join('", "')}", but knows only: ${names.join(', ')}.`,
      );
    }
    const queues = new Set(kinds.map((name) => this.kinds.get(name).queue));
    const left = known.filter(({ name, queue }) => queues.has(queue) && !kinds.includes(name));
    if (left.length > 0) {
      throw new TypeError(
        `This worker is to take ${kinds.join(', ')} but not ${left.map(({ name }) => name).join(', ')}, which share a queue. ` +
          'Take all kinds of a queue, or give them queues of their own.',
      );
    }
    return kinds.map((name) => this.kinds.get(name));
  }

  private start(queue: string, options: WorkerOptions): void {
    const { redis, prefix = LIFECYCLE_DEFAULTS.prefix } = this.options;
    const lockMs = options.lockMs ?? LIFECYCLE_DEFAULTS.lockMs;
    const worker = new Worker(queue, this.processor.process.bind(this.processor), {
      connection: redis,
      prefix: queuePrefix(prefix),
      autorun: false,
      concurrency: options.concurrency ?? LIFECYCLE_DEFAULTS.concurrency,
      lockDuration: lockMs,
      stalledInterval: Math.max(250, Math.floor(lockMs / 5)),
      maxStalledCount: MAX_LOST_WORKERS,
      // How soon a fetch or a finish that met a broken connection is tried again.
      runRetryDelay: 500,
      settings: {
        backoffStrategy: (attempt, _type, _error, job) => this.kinds.get(job!.name).backoffMs(attempt),
      },
    });
    worker.on('error', (error) => this.journal.queueError(queue, error));
    worker.on('lockRenewalFailed', (jobIds) => {
      for (const jobId of jobIds) {
        for (const run of this.running.of(jobId)) run.stop(new RunLost('its lock is gone'));
      }
    });
    worker.on('stalled', (jobId) => this.journal.jobStalled(queue, jobId));
    worker.on('completed', (job) => {
      this.runner.ended(job, true);
      this.journal.jobCompleted(
        factsOf(job),
        (job.finishedOn ?? 0) - (job.processedOn ?? 0),
        lifetimeMs(job),
      );
    });
    worker.on('failed', (job, error) => {
      if (!job) return;
      const isFinal = job.finishedOn !== undefined;
      this.runner.ended(job, isFinal);
      // A job that was not to be run has not failed; the runner has said what became of it.
      if (error instanceof EndedError) return;
      const why = failedOfChild(error.message) ? readFailure(error.message).why : error;
      const tookMs = Date.now() - (job.processedOn ?? 0);
      this.journal.jobFailed(factsOf(job), tookMs, why, isFinal ? lifetimeMs(job) : undefined);
    });
    this.workers.set(queue, worker);
    worker.run().catch((error: unknown) => this.journal.queueError(queue, error));
  }

  private async closeAll(): Promise<void> {
    await Promise.all(
      [...this.workers.values()].map(async (worker) => {
        await connectIfBroken(worker);
        await worker.close();
      }),
    );
  }

  /** With the store away a close never ends. Once nothing runs and it stays away, there is nothing to wait for. */
  private async nothingLeftWithoutStore(closed: AbortSignal): Promise<void> {
    for (let awayMs = 0; awayMs < STORE_AWAY_MS && !closed.aborted;) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      awayMs = this.running.count === 0 && this.options.redis.status !== 'ready' ? awayMs + LOOK_EVERY_MS : 0;
    }
  }

  /** What still runs is taken over by another process when its lock runs out. */
  private leave(): void {
    for (const [queue, worker] of this.workers) {
      worker.disconnect().catch((error: unknown) => this.journal.queueError(queue, error));
    }
  }
}

/**
 * A close waits to be told of the end of the connection on which its worker waits for jobs. One that broke, and rests before
 * it connects anew, ends without a word; so it is sent on its way first.
 */
async function connectIfBroken(worker: Worker): Promise<void> {
  // One that was never there is not waited for.
  const waiting = await Promise.race([worker.backend.blockingConnection?.client, Promise.resolve()]);
  if (waiting?.status === 'reconnecting') waiting.connect().catch(() => undefined);
}

/** By two clocks, its producer's and its worker's. */
function lifetimeMs({ timestamp, finishedOn = timestamp }: Job): number {
  return Math.max(0, finishedOn - timestamp);
}

/** Whether it came true in time. */
async function within(ms: number, event: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<false>((resolve) => (timer = setTimeout(resolve, ms, false)));
  try {
    return await Promise.race([event.then(() => true), limit]);
  } finally {
    clearTimeout(timer);
  }
}
