import type { Job, JobsOptions } from 'bullmq';
import {
  MooredQueue,
  type Adoption,
  type AdoptOptions,
  type RetriedJobs,
  type RetryFilter,
  type Ticket,
} from '#core';
import { askAll, askOne } from '../model/ask-all.js';
import { inEachPart, type Placed } from '../model/in-each-part.js';
import { checkSlot, jobIdIn, placeOf } from '../model/job-place.js';
import { addCounts } from '../model/merges.js';
import { cursorBehind, readPartCursor } from '../model/part-cursor.js';
import { IN_ALL, OF_ONE_JOB } from './queue-methods.js';
import { QueueReader, type PartitionedQueueOptions } from './queue-reader.js';

type Anything = Job['data'];
type Added<D, R, N extends string> = Parameters<MooredQueue<D, R, N>['add']>;
type Bulk<D, R, N extends string> = Parameters<MooredQueue<D, R, N>['addBulk']>[0];
type Scheduled<D, R, N extends string> = Parameters<MooredQueue<D, R, N>['upsertJobScheduler']>;
type Jobs<D, R, N extends string> = Awaited<ReturnType<MooredQueue<D, R, N>['addBulk']>>;
type NewJob<D, N> = { readonly name: N; readonly data: D; readonly opts?: JobsOptions };

/** Of what the other queues announce, what the first one does not announce by itself. */
const FORWARDED = ['error', 'waiting', 'progress', 'removed', 'cleaned', 'ioredis:close'] as const;

/** What the queue of one partition does. */
const plain = MooredQueue.prototype;

/** A queue over all its partitions. With one partition each call is that of `MooredQueue`. */
export class PartitionedQueue<D = Anything, R = Anything, N extends string = string> extends QueueReader<
  D,
  R,
  N
> {
  constructor(name: string, opts: PartitionedQueueOptions) {
    super(name, opts);
    for (const queue of this.parts.slice(1))
      for (const event of FORWARDED)
        queue.on(event as 'error', (...args) => this.emit(event as 'error', ...args));
  }

  override async add(...[name, data, opts]: Added<D, R, N>): Promise<Jobs<D, R, N>[number]> {
    const { at, job } = this.place({ name, data, opts: opts! });
    return plain.add.call(this.parts[at], name, data, job.opts);
  }

  /** One step a partition. */
  override async addBulk(jobs: Bulk<D, R, N>): Promise<Jobs<D, R, N>> {
    const places = jobs.map((job) => this.place(job));
    return inEachPart(this.parts, places, (queue, own) => plain.addBulk.call(queue, own));
  }

  override async enqueue(name: N, data: D, opts: JobsOptions = {}): Promise<Ticket> {
    const { at, job } = this.place({ name, data, opts });
    return plain.enqueue.call(this.parts[at], name, data, job.opts);
  }

  override async enqueueBulk(jobs: readonly NewJob<D, N>[]): Promise<PromiseSettledResult<Ticket>[]> {
    const places = await Promise.allSettled(jobs.map(async (job) => this.place(job)));
    const accepted = places.map((place) => (place.status === 'fulfilled' ? place.value : undefined));
    const tickets = await inEachPart(this.parts, accepted, (queue, own) =>
      plain.enqueueBulk.call(queue, own),
    );
    return places.map((place, i) => (place.status === 'rejected' ? place : tickets[i]!));
  }

  /** Owners that the caller does not name are asked for before the partition is chosen. */
  private place<J extends { name: string; data?: Anything; opts?: JobsOptions }>(job: J): Placed<J> {
    if (this.parts.length === 1) return { at: 0, job };
    const opts = this.withOwners(job.name, job.data, job.opts);
    const at = this.partitionOf({ ...opts });
    return { at, job: { ...job, opts: { ...opts, jobId: jobIdIn(at, opts?.jobId) } } };
  }

  private partitionOf(opts: JobsOptions): number {
    const all = { ...this.defaultJobOptions, ...opts };
    const at = placeOf(all, this.prefixes);
    checkSlot(all, at, this.prefixes.length);
    return at;
  }

  /** A scheduler whose first owner has changed may have moved: what another partition has of it goes. */
  override async upsertJobScheduler(
    ...args: Scheduled<D, R, N>
  ): ReturnType<MooredQueue<D, R, N>['upsertJobScheduler']> {
    if (this.parts.length === 1) return super.upsertJobScheduler(...args);
    const [id, , { name = id, data, opts } = {}] = args;
    const at = this.partitionOf({ ...this.withOwners(name, data, opts), jobId: id });
    const job = await plain.upsertJobScheduler.apply(this.parts[at], args as never);
    const elsewhere = this.parts.filter((_, i) => i !== at);
    await Promise.all(elsewhere.map((queue) => plain.removeJobScheduler.call(queue, id)));
    return job;
  }

  /** At most `limit` jobs of all partitions together. */
  override async clean(...[grace, limit, type]: Parameters<MooredQueue['clean']>): Promise<string[]> {
    const cleaned: string[] = [];
    for (const queue of this.parts) {
      if (limit && cleaned.length >= limit) break;
      cleaned.push(...(await plain.clean.call(queue, grace, limit && limit - cleaned.length, type)));
    }
    return cleaned;
  }

  /** At most `limit` jobs of all partitions together. */
  override async retryMatching({ limit = Infinity, ...filter }: RetryFilter = {}): Promise<RetriedJobs> {
    let total: RetriedJobs = { seen: 0, retried: 0, refused: 0, duplicates: 0 };
    for (const queue of this.parts) {
      if (total.retried >= limit) break;
      const more = await plain.retryMatching.call(queue, { ...filter, limit: limit - total.retried });
      total = addCounts([total, more]);
    }
    return total;
  }

  /** One partition after the other. A job stays in the partition where it waits. */
  override async adopt(options: AdoptOptions = {}): Promise<Adoption> {
    if (this.parts.length === 1) return super.adopt(options);
    const { cursor, limit = Infinity, ...rest } = options;
    let total = { seen: 0, adopted: 0, removed: 0, failed: 0 };
    let next = cursor;
    let firstError: unknown;
    do {
      const { at, cursor: from } = readPartCursor(next);
      const here = { ...rest, limit: limit - total.seen, ...(from && { cursor: from }) };
      const { cursor: end, error, ...counts } = await plain.adopt.call(this.parts[at], here);
      total = addCounts([total, counts]);
      firstError ??= error;
      next = cursorBehind(at, this.parts.length, end);
    } while (next !== undefined && total.seen < limit);
    return {
      ...total,
      ...(firstError !== undefined && { error: firstError }),
      ...(next !== undefined && { cursor: next }),
    };
  }
}

askAll<MooredQueue>(PartitionedQueue, IN_ALL);
askOne<MooredQueue>(PartitionedQueue, OF_ONE_JOB, (queue: PartitionedQueue, jobId) => queue.partOf(jobId));
