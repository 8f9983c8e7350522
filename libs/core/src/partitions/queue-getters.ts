import type { Job, JobState, JobType, Metrics } from 'bullmq';
import { MooredQueue, type MooredQueueOptions } from '../queue/moored-queue.js';
import { partitionsOf, type Partition, type PartitionOptions } from '../model/partitions.js';
import { partitionNamedBy } from './job-place.js';
import { mergeJobs, rangeInEach } from './merge-jobs.js';
import { mergeMetrics } from './merge-metrics.js';
import { addCounts } from './merge-receipts.js';

export interface PartitionedQueueOptions extends MooredQueueOptions, PartitionOptions {
  readonly prefix?: string;
}

type Anything = Job['data'];

/** As in BullMQ. */
const ALL_TYPES: JobType[] = [
  'active',
  'completed',
  'delayed',
  'failed',
  'prioritized',
  'waiting',
  'waiting-children',
];

/** A queue over all its partitions: what can be read of it. It is the queue of the first one itself. */
export abstract class QueueGetters<D = Anything, R = Anything, N extends string = string> extends MooredQueue<
  D,
  R,
  N
> {
  protected readonly partitions: readonly Partition[];
  protected readonly others: readonly MooredQueue<D, R, N>[];

  constructor(name: string, { partitions, ...opts }: PartitionedQueueOptions) {
    const all = partitionsOf({ ...opts, ...(partitions !== undefined && { partitions }) });
    const optsOf = (partition: Partition) => ({ ...opts, prefix: partition.root, partition });
    super(name, optsOf(all[0]!));
    this.partitions = all;
    this.others = all.slice(1).map((partition) => new MooredQueue<D, R, N>(name, optsOf(partition)));
  }

  override async getJob(jobId: string): ReturnType<MooredQueue<D, R, N>['getJob']> {
    const named = this.others.length > 0 ? partitionNamedBy(jobId) : 0;
    if (named) return this.others[named - 1]?.getJob(jobId);
    const job = await super.getJob(jobId);
    if (job || named === 0) return job;
    return (await Promise.all(this.others.map((queue) => queue.getJob(jobId)))).find((each) => each);
  }

  override async getJobState(jobId: string): Promise<JobState | 'unknown'> {
    const states = await this.everywhere(super.getJobState(jobId), (queue) => queue.getJobState(jobId));
    return states.find((state) => state !== 'unknown') ?? 'unknown';
  }

  override async getJobLogs(
    ...args: Parameters<MooredQueue['getJobLogs']>
  ): ReturnType<MooredQueue['getJobLogs']> {
    const queue = await this.queueOf(args[0]);
    return queue === this ? super.getJobLogs(...args) : queue.getJobLogs(...args);
  }

  override async getDependencies(
    ...args: Parameters<MooredQueue['getDependencies']>
  ): ReturnType<MooredQueue['getDependencies']> {
    const queue = await this.queueOf(args[0]);
    return queue === this ? super.getDependencies(...args) : queue.getDependencies(...args);
  }

  override async getJobs(
    types?: JobType[] | JobType,
    start = 0,
    end = -1,
    asc = false,
  ): ReturnType<MooredQueue<D, R, N>['getJobs']> {
    if (this.others.length === 0) return super.getJobs(types, start, end, asc);
    const asked = typeof types === 'string' ? [types] : types?.length ? [...new Set(types)] : ALL_TYPES;
    const range = { start, end };
    const each = rangeInEach(range);
    const jobs = await Promise.all(
      asked.map(async (type) => {
        const own = super.getJobs(type, each.start, each.end, asc);
        const pages = await this.everywhere(own, (queue) => queue.getJobs(type, each.start, each.end, asc));
        return mergeJobs(type, pages as Job[][], range, asc);
      }),
    );
    return jobs.flat() as Awaited<ReturnType<MooredQueue<D, R, N>['getJobs']>>;
  }

  override async getRanges(types: JobType[], start = 0, end = 1, asc = false): Promise<string[]> {
    if (this.others.length === 0) return super.getRanges(types, start, end, asc);
    return (await this.getJobs(types, start, end, asc)).map((job) => job.id!);
  }

  override async getJobCounts(...types: JobType[]): Promise<Record<string, number>> {
    const counts = await this.everywhere(super.getJobCounts(...types), (queue) =>
      queue.getJobCounts(...types),
    );
    return counts.reduce(addCounts);
  }

  override async getDelayedCount(timestamp?: number): Promise<number> {
    if (timestamp === undefined) return super.getDelayedCount();
    return sum(
      await this.everywhere(super.getDelayedCount(timestamp), (queue) => queue.getDelayedCount(timestamp)),
    );
  }

  override async getCountsPerPriority(priorities: number[]): Promise<Record<string, number>> {
    const own = super.getCountsPerPriority(priorities);
    return (await this.everywhere(own, (queue) => queue.getCountsPerPriority(priorities))).reduce(addCounts);
  }

  override async getMetrics(...args: Parameters<MooredQueue['getMetrics']>): Promise<Metrics> {
    const all = await this.everywhere(super.getMetrics(...args), (queue) => queue.getMetrics(...args));
    return all.length === 1 ? all[0]! : mergeMetrics(all);
  }

  override async getDeduplicationJobId(id: string): Promise<string | null> {
    const own = super.getDeduplicationJobId(id);
    const found = await this.everywhere(own, (queue) => queue.getDeduplicationJobId(id));
    return found.find((jobId) => jobId !== null) ?? null;
  }

  override getDebounceJobId(id: string): Promise<string | null> {
    return this.getDeduplicationJobId(id);
  }

  /** Until all partitions take jobs again. */
  override async getRateLimitTtl(maxJobs?: number): Promise<number> {
    return Math.max(
      ...(await this.everywhere(super.getRateLimitTtl(maxJobs), (queue) => queue.getRateLimitTtl(maxJobs))),
    );
  }

  /** While one partition goes on the queue is not paused. */
  override async isPaused(): Promise<boolean> {
    return (await this.everywhere(super.isPaused(), (queue) => queue.isPaused())).every(Boolean);
  }

  override async isMaxed(): Promise<boolean> {
    return (await this.everywhere(super.isMaxed(), (queue) => queue.isMaxed())).every(Boolean);
  }

  /** The same of all partitions. The own one is asked by the caller: here `super` would be another. */
  protected everywhere<T>(own: Promise<T>, ask: (queue: MooredQueue<D, R, N>) => Promise<T>): Promise<T[]> {
    // BullMQ's constructor waits for the connection before there are others.
    return Promise.all([own, ...(this.others ?? []).map(ask)]);
  }

  protected at(partition: number): MooredQueue<D, R, N> {
    const queue = partition === 0 ? this : this.others[partition - 1];
    if (!queue) throw new RangeError(`There is no partition ${partition}.`);
    return queue;
  }

  /** The queue that has a job. An id of the caller's is looked for in all of them. */
  protected async queueOf(jobId: string): Promise<MooredQueue<D, R, N>> {
    const named = partitionNamedBy(jobId);
    if (this.others.length === 0) return this;
    if (named !== undefined && named < this.partitions.length) return this.at(named);
    const states = await this.everywhere(super.getJobState(jobId), (queue) => queue.getJobState(jobId));
    return this.at(
      Math.max(
        0,
        states.findIndex((state) => state !== 'unknown'),
      ),
    );
  }
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
