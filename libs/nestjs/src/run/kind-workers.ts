import { durationMs } from '#core/parts';
import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { Journal } from '../journal/journal.js';
import { KindRegistry } from '../kinds/kind-registry.js';
import type { Kind } from '../kinds/kind.js';
import { MOORING_OPTIONS, type MooringOptions } from '../options.js';
import { RegisteredWorker } from '../queues/registered-worker.js';
import { MooringSetupError } from '../setup-error.js';
import { KindRunner } from './kind-runner.js';
import { RunningJobs } from './running-jobs.js';
import { WorkerFacts } from './worker-facts.js';

/** Of the time for the shutdown: the part in which runs may end, and the part in which they have to stop. */
const SHARE_FOR_ENDING = 0.6;
const SHARE_FOR_STOPPING = 0.2;
const DEFAULTS = { concurrency: 10, lockDuration: 10_000, maxStalledCount: 3, runRetryDelay: 500 };

/** The workers that `forRoot({ worker })` asks for: one for each queue of the kinds that this process takes. */
@Injectable()
export class KindWorkers implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly workers = new Map<string, RegisteredWorker>();

  constructor(
    @Inject(MOORING_OPTIONS) private readonly options: MooringOptions,
    private readonly kinds: KindRegistry,
    private readonly runner: KindRunner,
    private readonly running: RunningJobs,
    private readonly facts: WorkerFacts,
    private readonly journal: Journal,
  ) {}

  get concurrency(): number {
    return this.options.worker?.concurrency ?? DEFAULTS.concurrency;
  }

  /** The queues from which this process takes jobs. */
  queues(): string[] {
    return [...new Set(this.kindsTaken().map(({ queue }) => queue))];
  }

  all(): readonly RegisteredWorker[] {
    return [...this.workers.values()];
  }

  onApplicationBootstrap(): void {
    const kinds = this.kindsTaken();
    if (kinds.length === 0) return;
    for (const queue of this.queues()) this.start(queue);
    this.journal.tell({
      event: 'worker.started',
      queues: this.queues(),
      kinds: kinds.map(({ name }) => name),
    });
  }

  /** Before anything is closed that a run may use. What still runs at the end begins again elsewhere when its lock has run out. */
  async beforeApplicationShutdown(): Promise<void> {
    if (this.workers.size === 0) return;
    const began = Date.now();
    const ms = durationMs('worker.shutdownTimeout', this.options.worker?.shutdownTimeout ?? '20s');
    this.journal.tell({ event: 'worker.draining', running: this.running.runs.size });
    const limits = { finishWithin: ms * SHARE_FOR_ENDING, stopWithin: ms * SHARE_FOR_STOPPING };
    const workers = this.all();
    const closed = Promise.allSettled(workers.map((worker) => worker.shutdown(limits))).then(() => true);
    // A store that is away would keep the workers from closing.
    const hasClosed = await Promise.race([closed, pause(ms, false, { ref: false })]);
    if (!hasClosed)
      await Promise.race([Promise.allSettled(workers.map((worker) => worker.disconnect())), pause(1_000)]);
    this.journal.tell({
      event: 'worker.drained',
      tookMs: Date.now() - began,
      stillRunning: this.running.runs.size,
    });
  }

  /** Kinds of one queue go together: a worker would put off the jobs of the others for ever. */
  private kindsTaken(): Kind[] {
    const { worker } = this.options;
    if (!worker) return [];
    const known = this.kinds.all();
    const names = worker.kinds ?? known.map(({ name }) => name);
    const unknown = names.filter((name) => !this.kinds.find(name));
    if (unknown.length > 0)
      throw new MooringSetupError(
        `This worker is to take ${unknown.join(', ')}, but knows only ${known
          .map(({ name }) => name)
          .toSorted()
          .join(', ')}.`,
      );
    const queues = new Set(names.map((name) => this.kinds.get(name).queue));
    const left = known.filter(({ name, queue }) => queues.has(queue) && !names.includes(name));
    if (left.length > 0)
      throw new MooringSetupError(
        `This worker is to take ${names.join(', ')} but not ${left.map(({ name }) => name).join(', ')}, which share a queue. ` +
          'Take all kinds of a queue, or give them queues of their own.',
      );
    return names.map((name) => this.kinds.get(name));
  }

  private start(queue: string): void {
    const { connection, prefix = 'bull', worker: given } = this.options;
    const { kinds: _kinds, shutdownTimeout: _timeout, around: _around, ...rest } = given!;
    const options = { ...DEFAULTS, ...rest };
    const worker = new RegisteredWorker(
      queue,
      // Keep all three parameters: BullMQ makes an AbortSignal only for a function that declares a third one.
      (job, token, signal) => this.runner.run(job, token!, signal!),
      {
        stalledInterval: Math.max(250, options.lockDuration / 5),
        ...options,
        connection,
        prefix,
        autorun: false,
      },
    );
    this.workers.set(queue, worker);
    this.facts.follow(worker);
    worker.run().catch((error: unknown) => this.journal.trouble(`Queue ${queue}`, error));
  }
}
