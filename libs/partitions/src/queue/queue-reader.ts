import type { Job, JobType } from 'bullmq';
import { MooredQueue, type MooredQueueOptions } from '#core';
import { partitionNamedBy } from '../model/job-place.js';
import { sum } from '../model/merges.js';
import { optionsOfEach, type PartitionOptions } from '../model/partitions.js';
import { mergeJobs, rangeInEach } from './merge-jobs.js';

export type PartitionedQueueOptions = MooredQueueOptions & PartitionOptions;

type Anything = Job['data'];
type Found<D, R, N extends string> = Awaited<ReturnType<MooredQueue<D, R, N>['getJobs']>>;
type Schedulers<D, R, N extends string> = ReturnType<MooredQueue<D, R, N>['getJobSchedulers']>;

/** What the queue of one partition does. */
const plain = MooredQueue.prototype;

/** Reads the jobs of a queue in all its partitions. It is the queue of the first one itself. */
export abstract class QueueReader<D = Anything, R = Anything, N extends string = string> extends MooredQueue<
  D,
  R,
  N
> {
  protected readonly prefixes: readonly string[];
  readonly parts: readonly MooredQueue<D, R, N>[];

  constructor(name: string, options: PartitionedQueueOptions) {
    const [own, ...others] = optionsOfEach(options);
    super(name, own);
    this.prefixes = [own!, ...others].map(({ prefix }) => prefix);
    this.parts = [this, ...others.map((opts) => new MooredQueue<D, R, N>(name, opts))];
  }

  /** The part that has a job. One with an id of the caller's is looked for in all of them. */
  async partOf(jobId: string): Promise<MooredQueue<D, R, N>> {
    const named = this.parts[partitionNamedBy(jobId) ?? -1];
    if (named || this.parts.length === 1) return named ?? this;
    const states = await Promise.all(this.parts.map((queue) => plain.getJobState.call(queue, jobId)));
    return this.parts[states.findIndex((state) => state !== 'unknown')] ?? this;
  }

  override async getJob(jobId: string): Promise<Found<D, R, N>[number] | undefined> {
    const named = this.parts.length > 1 ? partitionNamedBy(jobId) : 0;
    const asked = named === undefined ? this.parts : this.parts.slice(named, named + 1);
    const jobs = await Promise.all(asked.map((queue) => plain.getJob.call(queue, jobId)));
    return jobs.find((job) => job) as Found<D, R, N>[number] | undefined;
  }

  override async getJobs(
    types?: JobType[] | JobType,
    start = 0,
    end = -1,
    asc = false,
  ): Promise<Found<D, R, N>> {
    if (this.parts.length === 1) return super.getJobs(types, start, end, asc);
    const asked = this['sanitizeJobTypes'](types);
    const each = rangeInEach({ start, end });
    const ofType = async (type: JobType) => {
      const read = (queue: MooredQueue) => plain.getJobs.call(queue, type, each.start, each.end, asc);
      return mergeJobs(type, await Promise.all(this.parts.map(read)), { start, end }, asc);
    };
    return (await Promise.all(asked.map(ofType))).flat() as Found<D, R, N>;
  }

  override async getRanges(types: JobType[], start = 0, end = 1, asc = false): Promise<string[]> {
    if (this.parts.length === 1) return super.getRanges(types, start, end, asc);
    return (await this.getJobs(types, start, end, asc)).map((job) => job.id!);
  }

  /** Without a time BullMQ counts with `getJobCounts`, which asks all partitions by itself. */
  override async getDelayedCount(timestamp?: number): Promise<number> {
    if (timestamp === undefined) return super.getDelayedCount();
    return sum(await Promise.all(this.parts.map((queue) => plain.getDelayedCount.call(queue, timestamp))));
  }

  /** By their next turn, as in BullMQ. */
  override async getJobSchedulers(start = 0, end = -1, asc = false): Schedulers<D, R, N> {
    if (this.parts.length === 1) return super.getJobSchedulers(start, end, asc);
    const read = (queue: MooredQueue) => plain.getJobSchedulers.call(queue, 0, -1, asc);
    return (await Promise.all(this.parts.map(read)))
      .flat()
      .toSorted((a, b) => (asc ? 1 : -1) * ((a.next ?? 0) - (b.next ?? 0)))
      .slice(start, end === -1 ? undefined : end + 1);
  }
}
