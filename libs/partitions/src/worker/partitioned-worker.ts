import type { Job, Processor } from 'bullmq';
import type { MooredWorkerListener, MooredWorkerOptions } from '#core';
import { askAll } from '../model/ask-all.js';
import { nothing } from '../model/merges.js';
import { optionsOfEach, type PartitionOptions } from '../model/partitions.js';
import { PermittedWorker } from './permitted-worker.js';
import { RunPermits } from './run-permits.js';

export type PartitionedWorkerOptions = MooredWorkerOptions & PartitionOptions;

type Anything = Job['data'];
type Fetched<D, R, N extends string> = Awaited<ReturnType<PermittedWorker<D, R, N>['getNextJob']>>;

/** What the workers of the other partitions announce, is announced by the first as well. */
const FORWARDED = [
  'active',
  'cancelled',
  'completed',
  'error',
  'failed',
  'ioredis:close',
  'locksRenewed',
  'lost',
  'progress',
  'refused',
  'stalled',
] as const;

/** A worker over all partitions: one inner worker each, which share one `concurrency`. It is that of the first partition itself. */
export class PartitionedWorker<D = Anything, R = Anything, N extends string = string> extends PermittedWorker<
  D,
  R,
  N
> {
  readonly parts: readonly PermittedWorker<D, R, N>[];
  private readonly drainedParts = new Set<unknown>();
  private turn = 0;

  constructor(
    name: string,
    processor: Processor<D, R, N> | string | URL | null,
    options: PartitionedWorkerOptions,
  ) {
    const [own, ...others] = optionsOfEach({ ...options, autorun: false });
    super(name, processor, own!);
    this.parts = [this, ...others.map((opts) => new PermittedWorker(name, processor, opts))];
    if (others.length > 0) this.share();
    if (processor && options.autorun !== false) this.run().catch((error: Error) => this.emit('error', error));
  }

  private share(): void {
    this.permits = new RunPermits(super.concurrency);
    for (const other of this.parts.slice(1)) {
      other.permits = this.permits;
      for (const event of FORWARDED)
        other.on(event as 'error', (...args) => super.emit(event as 'error', ...args));
      other.on('drained', () => this.noteDrained(other));
      other.on('active', () => this.drainedParts.delete(other));
    }
  }

  /** The queue is drained when the last of its partitions is. */
  private noteDrained(part: unknown): boolean {
    this.drainedParts.add(part);
    return this.drainedParts.size === this.parts.length && super.emit('drained');
  }

  override emit<U extends keyof MooredWorkerListener<D, R, N>>(
    event: U,
    ...args: Parameters<MooredWorkerListener<D, R, N>[U]>
  ): boolean {
    if (this.permits && event === 'drained') return this.noteDrained(this);
    if (event === 'active') this.drainedParts?.delete(this);
    return super.emit(event, ...args);
  }

  override get concurrency(): number {
    return super.concurrency;
  }

  override set concurrency(concurrency: number) {
    super.concurrency = concurrency;
    // BullMQ's constructor sets it before there are others.
    for (const other of this.parts?.slice(1) ?? []) other.concurrency = concurrency;
    this.permits?.setMost(concurrency);
  }

  /** Looks in one partition after the other, and waits in the last. */
  override async getNextJob(token: string, { block = true } = {}): Promise<Fetched<D, R, N>> {
    const count = this.parts.length;
    this.turn = (this.turn + 1) % count;
    for (let i = 1; i <= count; i += 1) {
      const part = this.parts[(this.turn + i) % count]!;
      const job = await PermittedWorker.prototype.getNextJob.call(part, token, {
        block: block && i === count,
      });
      if (job) return job;
    }
    return undefined as never;
  }

  override cancelJob(jobId: string, reason?: string): boolean {
    const isFound = this.parts.map((part) => PermittedWorker.prototype.cancelJob.call(part, jobId, reason));
    return isFound.some(Boolean);
  }

  override cancelAllJobs(reason?: string): void {
    for (const part of this.parts) PermittedWorker.prototype.cancelAllJobs.call(part, reason);
  }
}

askAll<PermittedWorker>(PartitionedWorker, {
  run: nothing,
  pause: nothing,
  resume: nothing,
  rateLimit: nothing,
  waitUntilReady: nothing,
  shutdown: nothing,
  close: nothing,
  disconnect: nothing,
});
