import type { MooredWorkerOptions } from '#core';
import { durationMs } from '#core/parts';
import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Worker } from 'bullmq';
import { Journal } from '../journal/journal.js';
import { KindRegistry } from '../kinds/kind-registry.js';
import type { Kind } from '../kinds/kind.js';
import { MOORING_OPTIONS, type KindWorkerOptions, type MooringOptions } from '../options.js';
import { ApplicationQueues } from '../queues/application-queues.js';
import { RegisteredWorker } from '../queues/registered-worker.js';
import type { WorkerSettings } from '../queues/starting-application.js';
import { MooringSetupError } from '../setup-error.js';
import { HandlerDiscovery } from './handler-discovery.js';
import { Pulse } from './pulse.js';
import { RunningJobs } from './running-jobs.js';
import { WorkerFacts } from './worker-facts.js';

const DEFAULTS = { concurrency: 10, lockDuration: 10_000, maxStalledCount: 3, runRetryDelay: 500 };

/** The workers of the queues of kinds. Their `@Processor` classes say which there are; they take jobs once the application has started. */
@Injectable()
export class QueueWorkers implements OnApplicationBootstrap, BeforeApplicationShutdown, WorkerSettings {
  private readonly workers: RegisteredWorker[] = [];
  private taken: ReadonlySet<string> | undefined;

  constructor(
    @Inject(MOORING_OPTIONS) private readonly options: MooringOptions,
    queues: ApplicationQueues,
    private readonly kinds: KindRegistry,
    private readonly handlers: HandlerDiscovery,
    private readonly running: RunningJobs,
    private readonly facts: WorkerFacts,
    private readonly pulse: Pulse,
    private readonly journal: Journal,
  ) {
    queues.ofKinds = this;
  }

  /** Those that take jobs. */
  all(): readonly RegisteredWorker[] {
    return this.workers.filter(({ name }) => this.taken?.has(name));
  }

  optionsOf(queue: string): Partial<MooredWorkerOptions> {
    if (!this.isOfKinds(queue)) return {};
    const options = { ...DEFAULTS, ...bullOptionsOf(this.options.worker) };
    // A run that was cancelled hears of it at the next renewal at the latest.
    const lockRenewTime = options.lockDuration / 4;
    return {
      stalledInterval: Math.max(250, options.lockDuration / 5),
      lockRenewTime,
      ...options,
      autorun: false,
    };
  }

  add(worker: Worker): void {
    if (!(worker instanceof RegisteredWorker) || !this.isOfKinds(worker.name)) return;
    this.workers.push(worker);
    this.facts.follow(worker);
    if (this.taken?.has(worker.name)) this.start(worker);
  }

  /** After all modules are ready, and it is sure that each job has a handler. */
  onApplicationBootstrap(): void {
    const processed = new Set(this.workers.map(({ name }) => name));
    const kinds = this.kindsTaken(processed);
    this.handlers.complete(kinds, processed);
    this.taken = new Set(kinds.map(({ queue }) => queue));
    if (this.all().length === 0) return;
    this.all().forEach((worker) => this.start(worker));
    this.pulse.start(this.all(), kinds);
    this.journal.tell({
      event: 'worker.started',
      queues: [...this.taken],
      kinds: kinds.map(({ name }) => name),
    });
  }

  /** Before anything is closed that a run may use. What still runs at the end begins again elsewhere when its lock has run out. */
  async beforeApplicationShutdown(): Promise<void> {
    const workers = this.all();
    if (workers.length === 0) return;
    const began = Date.now();
    const ms = durationMs('worker.shutdownTimeout', this.options.worker?.shutdownTimeout ?? '20s');
    this.journal.tell({ event: 'worker.draining', running: this.running.runs.size });
    this.pulse.drain();
    await Promise.all(workers.map((worker) => worker.shutdownWithin(ms)));
    await this.pulse.stop();
    this.journal.tell({
      event: 'worker.drained',
      tookMs: Date.now() - began,
      stillRunning: this.running.runs.size,
    });
  }

  private isOfKinds(queue: string): boolean {
    return this.kinds.all().some((kind) => kind.queue === queue);
  }

  private start(worker: RegisteredWorker): void {
    if (worker.runsByItself) return;
    worker.run().catch((error: unknown) => this.journal.trouble(`Queue ${worker.name}`, error));
  }

  /** Those that this process may take, of the queues that have a processor here. */
  private kindsTaken(processed: ReadonlySet<string>): Kind[] {
    const names = this.options.worker?.kinds;
    const kinds = this.kinds.all().filter(({ queue }) => processed.has(queue));
    if (!names) return kinds;
    checkNames(names, this.kinds.all(), processed);
    return kinds.filter(({ name }) => names.includes(name));
  }
}

/** Without those that are not BullMQ's. */
function bullOptionsOf(worker: KindWorkerOptions = {}): Partial<MooredWorkerOptions> {
  const { kinds: _kinds, shutdownTimeout: _timeout, around: _around, version: _version, ...given } = worker;
  return given;
}

/** Kinds of one queue go together: a worker would put off the jobs of the others for ever. */
function checkNames(names: readonly string[], known: readonly Kind[], processed: ReadonlySet<string>): void {
  const unknown = names.filter((name) => !known.some((kind) => kind.name === name));
  if (unknown.length > 0)
    throw new MooringSetupError(
      `This worker is to take ${quoted(unknown)}, but knows only: ${list(known.map(({ name }) => name).toSorted())}.`,
    );
  const named = known.filter(({ name }) => names.includes(name));
  const queues = new Set(named.map(({ queue }) => queue));
  const left = known.filter(({ name, queue }) => queues.has(queue) && !names.includes(name));
  if (left.length > 0)
    throw new MooringSetupError(
      `This worker is to take ${quoted(names)} but not ${quoted(left.map(({ name }) => name))}, which share a queue. ` +
        'Take all kinds of a queue, or give them queues of their own.',
    );
  const without = [...queues].filter((queue) => !processed.has(queue));
  if (without.length > 0)
    throw new MooringSetupError(
      `This worker is to take ${quoted(names)}, but has no processor for ${quoted(without)}: ` +
        `provide a class with @Processor('${without[0]}') that extends KindProcessor.`,
    );
}

function quoted(names: readonly string[]): string {
  return list(names.map((name) => `"${name}"`));
}

function list(names: readonly string[]): string {
  return names.join(', ');
}
