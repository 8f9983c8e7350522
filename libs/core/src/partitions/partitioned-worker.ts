import type { Job, Processor } from 'bullmq';
import { partitionsOf, type Partition, type PartitionOptions } from '../model/partitions.js';
import type { MooredWorkerOptions } from '../worker/moored-worker.js';
import type { MooredWorkerListener } from '../worker/worker-events.js';
import { PermittedWorker } from './permitted-worker.js';
import { RunPermits } from './run-permits.js';

export interface PartitionedWorkerOptions extends MooredWorkerOptions, PartitionOptions {
  readonly prefix?: string;
}

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
  private readonly others: readonly PermittedWorker<D, R, N>[];
  private readonly drainedParts = new Set<unknown>();
  private turn = 0;

  constructor(
    name: string,
    processor: Processor<D, R, N> | string | URL | null,
    { partitions, ...opts }: PartitionedWorkerOptions,
  ) {
    const all = partitionsOf({ ...opts, ...(partitions !== undefined && { partitions }) });
    const optsOf = (partition: Partition) => ({ ...opts, prefix: partition.root, partition, autorun: false });
    super(name, processor, optsOf(all[0]!));
    this.others = all.slice(1).map((partition) => new PermittedWorker(name, processor, optsOf(partition)));
    if (this.others.length > 0) this.share();
    if (processor && opts.autorun !== false) this.run().catch((error: Error) => this.emit('error', error));
  }

  private share(): void {
    this.permits = new RunPermits(super.concurrency);
    for (const other of this.others) {
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
    return this.drainedParts.size > this.others.length && super.emit('drained');
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
    for (const other of this.others ?? []) other.concurrency = concurrency;
    this.permits?.setMost(concurrency);
  }

  override async run(): Promise<void> {
    await Promise.all([super.run(), ...this.others.map((other) => other.run())]);
  }

  /** Looks in one partition after the other, and waits in the last. */
  override async getNextJob(token: string, { block = true } = {}): Promise<Fetched<D, R, N>> {
    const count = this.others.length + 1;
    this.turn = (this.turn + 1) % count;
    for (let i = 1; i <= count; i += 1) {
      const at = (this.turn + i) % count;
      const opts = { block: block && i === count };
      const job = await (at === 0
        ? super.getNextJob(token, opts)
        : this.others[at - 1]!.getNextJob(token, opts));
      if (job) return job;
    }
    return undefined as never;
  }

  override async rateLimit(expireTimeMs: number): Promise<void> {
    await Promise.all([
      super.rateLimit(expireTimeMs),
      ...this.others.map((other) => other.rateLimit(expireTimeMs)),
    ]);
  }

  override cancelJob(jobId: string, reason?: string): boolean {
    const parts = [
      super.cancelJob(jobId, reason),
      ...this.others.map((other) => other.cancelJob(jobId, reason)),
    ];
    return parts.some(Boolean);
  }

  override cancelAllJobs(reason?: string): void {
    super.cancelAllJobs(reason);
    for (const other of this.others) other.cancelAllJobs(reason);
  }

  override async waitUntilReady(): Promise<void> {
    await Promise.all([super.waitUntilReady(), ...this.others.map((other) => other.waitUntilReady())]);
  }

  override async pause(doNotWaitActive?: boolean): Promise<void> {
    await Promise.all([
      super.pause(doNotWaitActive),
      ...this.others.map((other) => other.pause(doNotWaitActive)),
    ]);
  }

  override async resume(): Promise<void> {
    await Promise.all([super.resume(), ...this.others.map((other) => other.resume())]);
  }

  override async shutdown(opts?: Parameters<PermittedWorker['shutdown']>[0]): Promise<void> {
    await Promise.all([super.shutdown(opts), ...this.others.map((other) => other.shutdown(opts))]);
  }

  override async close(force?: boolean): Promise<void> {
    await Promise.all([super.close(force), ...this.others.map((other) => other.close(force))]);
  }

  override async disconnect(): Promise<void> {
    await Promise.all([super.disconnect(), ...this.others.map((other) => other.disconnect())]);
  }
}
