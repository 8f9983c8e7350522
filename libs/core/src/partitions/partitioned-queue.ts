import type { Job, JobsOptions, JobState, RetryOptions } from 'bullmq';
import type { Ticket } from '../backend/ticket.js';
import type { RetriedJobs, RetryFilter } from '../queue/bulk-retry.js';
import { withOwners } from '../queue/default-owners.js';
import type { MooredQueue } from '../queue/moored-queue.js';
import type { Adoption, AdoptOptions } from '../sweeps/adoption.js';
import { checkSlot, jobIdIn, placeOf } from './job-place.js';
import { cursorBehind, readPartCursor } from './part-cursor.js';
import { QueueGetters, sum, type PartitionedQueueOptions } from './queue-getters.js';

type Anything = Job['data'];
type Added<D, R, N extends string> = Parameters<MooredQueue<D, R, N>['add']>;
type Bulk<D, R, N extends string> = Parameters<MooredQueue<D, R, N>['addBulk']>[0];
type Scheduled<D, R, N extends string> = Parameters<MooredQueue<D, R, N>['upsertJobScheduler']>;
type Scheduler<D, R, N extends string> = Awaited<
  ReturnType<MooredQueue<D, R, N>['getJobSchedulers']>
>[number];
type Jobs<D, R, N extends string> = Awaited<ReturnType<MooredQueue<D, R, N>['addBulk']>>;

/** Of what the other queues announce, what the first one does not announce by itself. */
const FORWARDED = ['error', 'waiting', 'progress', 'removed', 'cleaned', 'ioredis:close'] as const;

/** A queue over all its partitions. With one partition each call is that of `MooredQueue`. */
export class PartitionedQueue<D = Anything, R = Anything, N extends string = string> extends QueueGetters<
  D,
  R,
  N
> {
  constructor(name: string, opts: PartitionedQueueOptions) {
    super(name, opts);
    for (const queue of this.others) {
      for (const event of FORWARDED)
        queue.on(event as 'error', (...args) => this.emit(event as 'error', ...args));
    }
  }

  override async add(...[name, data, opts]: Added<D, R, N>): Promise<Jobs<D, R, N>[number]> {
    if (this.others.length === 0) return super.add(name, data, opts);
    const [queue, placed] = this.place(name, data, opts);
    return queue === this ? super.add(name, data, placed) : queue.add(name, data, placed);
  }

  /** One step a partition; the answers come in the order of the jobs. */
  override async addBulk(jobs: Bulk<D, R, N>): Promise<Jobs<D, R, N>> {
    if (this.others.length === 0) return super.addBulk(jobs);
    const places = jobs.map(({ name, data, opts }) => this.place(name, data, opts));
    const ofQueue = (queue: MooredQueue<D, R, N>): Bulk<D, R, N> =>
      jobs.flatMap((job, i) => (places[i]![0] === queue ? [{ ...job, opts: places[i]![1] }] : []));
    const added = await this.everywhere(
      addAll(ofQueue(this), (own) => super.addBulk(own)),
      (queue) => addAll(ofQueue(queue), (own) => queue.addBulk(own)),
    );
    const next = this.inOrder(added);
    return places.map(([queue]) => next(queue));
  }

  override async enqueue(name: N, data: D, opts: JobsOptions = {}): Promise<Ticket> {
    if (this.others.length === 0) return super.enqueue(name, data, opts);
    const [queue, placed] = this.place(name, data, opts);
    return queue === this ? super.enqueue(name, data, placed) : queue.enqueue(name, data, placed);
  }

  override async enqueueBulk(
    jobs: Parameters<MooredQueue<D, R, N>['enqueueBulk']>[0],
  ): Promise<PromiseSettledResult<Ticket>[]> {
    if (this.others.length === 0) return super.enqueueBulk(jobs);
    const places = await Promise.allSettled(
      jobs.map(async ({ name, data, opts }) => this.place(name, data, opts)),
    );
    const queues = places.map((place) => (place.status === 'fulfilled' ? place.value[0] : undefined));
    const placed = (queue: MooredQueue<D, R, N>) =>
      jobs.flatMap((job, i) => (queues[i] === queue ? [{ ...job, opts: valueOf(places[i]!)[1] }] : []));
    const answers = await this.everywhere(
      addAll(placed(this), (own) => super.enqueueBulk(own)),
      (queue) => addAll(placed(queue), (own) => queue.enqueueBulk(own)),
    );
    const next = this.inOrder(answers);
    return queues.map((queue, i) => (queue ? next(queue) : (places[i] as PromiseRejectedResult)));
  }

  /** Takes the answers of each queue one by one, as their jobs were given. */
  private inOrder<T>(answers: readonly (readonly T[])[]): (queue: MooredQueue<D, R, N>) => T {
    const next = answers.map((each) => each.values());
    return (queue) => next[queue === this ? 0 : this.others.indexOf(queue) + 1]!.next().value!;
  }

  /** Owners that the caller does not name are asked for before the partition is chosen. */
  private place(name: string, data: Anything, opts: JobsOptions = {}): [MooredQueue<D, R, N>, JobsOptions] {
    const owned = withOwners(this.ownersOf, name, data, opts)!;
    const merged = { ...this.defaultJobOptions, ...owned };
    const partition = placeOf(merged, this.partitions);
    checkSlot(merged, partition, this.partitions.length);
    return [this.at(partition), { ...owned, jobId: jobIdIn(partition, owned.jobId) }];
  }

  /** A scheduler whose first owner has changed may have moved: what another partition has of it goes. */
  override async upsertJobScheduler(
    ...args: Scheduled<D, R, N>
  ): ReturnType<MooredQueue<D, R, N>['upsertJobScheduler']> {
    if (this.others.length === 0) return super.upsertJobScheduler(...args);
    const [id, , template] = args;
    const named = template?.opts;
    const owned = withOwners(this.ownersOf, template?.name ?? id, template?.data, named);
    const opts = { ...this.defaultJobOptions, ...owned, jobId: id };
    const partition = placeOf(opts, this.partitions);
    checkSlot(opts, partition, this.partitions.length);
    const queue = this.at(partition);
    const job = await (queue === this
      ? super.upsertJobScheduler(...args)
      : queue.upsertJobScheduler(...args));
    const removals = this.others
      .filter((other) => other !== queue)
      .map((other) => other.removeJobScheduler(id));
    await Promise.all(queue === this ? removals : [super.removeJobScheduler(id), ...removals]);
    return job;
  }

  override async removeJobScheduler(id: string): Promise<boolean> {
    return (
      await this.everywhere(super.removeJobScheduler(id), (queue) => queue.removeJobScheduler(id))
    ).some(Boolean);
  }

  override async getJobScheduler(id: string): Promise<Scheduler<D, R, N> | undefined> {
    const found = await this.everywhere(super.getJobScheduler(id), (queue) => queue.getJobScheduler(id));
    return found.find((scheduler) => scheduler);
  }

  /** By their next turn, as in BullMQ. */
  override async getJobSchedulers(start = 0, end = -1, asc = false): Promise<Scheduler<D, R, N>[]> {
    if (this.others.length === 0) return super.getJobSchedulers(start, end, asc);
    const own = super.getJobSchedulers(0, -1, asc);
    const all = await this.everywhere(own, (queue) => queue.getJobSchedulers(0, -1, asc));
    return all
      .flat()
      .toSorted((a, b) => (asc ? 1 : -1) * ((a.next ?? 0) - (b.next ?? 0)))
      .slice(start, end === -1 ? undefined : end + 1);
  }

  override async getJobSchedulersCount(): Promise<number> {
    return sum(
      await this.everywhere(super.getJobSchedulersCount(), (queue) => queue.getJobSchedulersCount()),
    );
  }

  override async remove(...args: Parameters<MooredQueue['remove']>): Promise<number> {
    const queue = await this.queueOf(args[0]);
    return queue === this ? super.remove(...args) : queue.remove(...args);
  }

  override async updateJobProgress(...args: Parameters<MooredQueue['updateJobProgress']>): Promise<void> {
    const queue = await this.queueOf(args[0]);
    return queue === this ? super.updateJobProgress(...args) : queue.updateJobProgress(...args);
  }

  override async addJobLog(...args: Parameters<MooredQueue['addJobLog']>): Promise<number> {
    const queue = await this.queueOf(args[0]);
    return queue === this ? super.addJobLog(...args) : queue.addJobLog(...args);
  }

  override async pause(): Promise<void> {
    await this.everywhere(super.pause(), (queue) => queue.pause());
  }

  override async resume(): Promise<void> {
    await this.everywhere(super.resume(), (queue) => queue.resume());
  }

  override async drain(delayed?: boolean): Promise<void> {
    await this.everywhere(super.drain(delayed), (queue) => queue.drain(delayed));
  }

  /** At most `limit` jobs of all partitions together. */
  override async clean(...[grace, limit, type]: Parameters<MooredQueue['clean']>): Promise<string[]> {
    const cleaned = await super.clean(grace, limit, type);
    for (const queue of this.others) {
      if (limit && cleaned.length >= limit) break;
      cleaned.push(...(await queue.clean(grace, limit && limit - cleaned.length, type)));
    }
    return cleaned;
  }

  override async obliterate(opts?: Parameters<MooredQueue['obliterate']>[0]): Promise<void> {
    await this.everywhere(super.obliterate(opts), (queue) => queue.obliterate(opts));
  }

  override async retryJobs(opts?: Parameters<MooredQueue['retryJobs']>[0]): Promise<void> {
    await this.everywhere(super.retryJobs(opts), (queue) => queue.retryJobs(opts));
  }

  override async retry(id: string, options?: RetryOptions): Promise<JobState | 'unknown'> {
    const queue = await this.queueOf(id);
    return queue === this ? super.retry(id, options) : queue.retry(id, options);
  }

  /** At most `limit` jobs of all partitions together. */
  override async retryMatching({ limit = Infinity, ...filter }: RetryFilter = {}): Promise<RetriedJobs> {
    const total = { ...(await super.retryMatching({ ...filter, limit })) };
    for (const queue of this.others) {
      if (total.retried >= limit) break;
      const more = await queue.retryMatching({ ...filter, limit: limit - total.retried });
      for (const count of ['seen', 'retried', 'refused', 'duplicates'] as const) total[count] += more[count];
    }
    return total;
  }

  /** One partition after the other. A job stays in the partition where it waits. */
  override async adopt(options: AdoptOptions = {}): Promise<Adoption> {
    if (this.others.length === 0) return super.adopt(options);
    const { cursor, limit = Infinity, ...rest } = options;
    const total = { seen: 0, adopted: 0, removed: 0, failed: 0 };
    let from = readPartCursor(cursor);
    let error: unknown;
    let next: string | undefined;
    do {
      const here = { ...rest, limit: limit - total.seen, ...(from.cursor && { cursor: from.cursor }) };
      const page = await (from.at === 0 ? super.adopt(here) : this.at(from.at).adopt(here));
      for (const count of ['seen', 'adopted', 'removed', 'failed'] as const) total[count] += page[count];
      error ??= page.error;
      next = cursorBehind(from.at, this.partitions.length, page.cursor);
      from = readPartCursor(next);
    } while (next !== undefined && total.seen < limit);
    return { ...total, ...(error !== undefined && { error }), ...(next !== undefined && { cursor: next }) };
  }

  override async promoteJobs(opts?: Parameters<MooredQueue['promoteJobs']>[0]): Promise<void> {
    await this.everywhere(super.promoteJobs(opts), (queue) => queue.promoteJobs(opts));
  }

  override async rateLimit(expireTimeMs: number): Promise<void> {
    await this.everywhere(super.rateLimit(expireTimeMs), (queue) => queue.rateLimit(expireTimeMs));
  }

  override async removeRateLimitKey(): Promise<number> {
    return sum(await this.everywhere(super.removeRateLimitKey(), (queue) => queue.removeRateLimitKey()));
  }

  /** Of each partition. */
  override async setGlobalConcurrency(concurrency: number): Promise<number> {
    const own = super.setGlobalConcurrency(concurrency);
    return sum(await this.everywhere(own, (queue) => queue.setGlobalConcurrency(concurrency)));
  }

  /** Of each partition. */
  override async setGlobalRateLimit(max: number, duration: number): Promise<number> {
    const own = super.setGlobalRateLimit(max, duration);
    return sum(await this.everywhere(own, (queue) => queue.setGlobalRateLimit(max, duration)));
  }

  override async removeGlobalConcurrency(): Promise<number> {
    return sum(
      await this.everywhere(super.removeGlobalConcurrency(), (queue) => queue.removeGlobalConcurrency()),
    );
  }

  override async removeGlobalRateLimit(): Promise<number> {
    return sum(
      await this.everywhere(super.removeGlobalRateLimit(), (queue) => queue.removeGlobalRateLimit()),
    );
  }

  override async removeDeduplicationKey(id: string): Promise<number> {
    return sum(
      await this.everywhere(super.removeDeduplicationKey(id), (queue) => queue.removeDeduplicationKey(id)),
    );
  }

  override removeDebounceKey(id: string): Promise<number> {
    return this.removeDeduplicationKey(id);
  }

  override async removeDeprecatedPriorityKey(): Promise<number> {
    const own = super.removeDeprecatedPriorityKey();
    return sum(await this.everywhere(own, (queue) => queue.removeDeprecatedPriorityKey()));
  }

  override async removeOrphanedJobs(count?: number, limit?: number): Promise<number> {
    const own = super.removeOrphanedJobs(count, limit);
    return sum(await this.everywhere(own, (queue) => queue.removeOrphanedJobs(count, limit)));
  }

  override async trimEvents(maxLength: number): Promise<number> {
    return sum(await this.everywhere(super.trimEvents(maxLength), (queue) => queue.trimEvents(maxLength)));
  }

  override async waitUntilReady(): Promise<void> {
    await this.everywhere(super.waitUntilReady(), (queue) => queue.waitUntilReady());
  }

  override async close(): Promise<void> {
    await this.everywhere(super.close(), (queue) => queue.close());
  }

  override async disconnect(): Promise<void> {
    await this.everywhere(super.disconnect(), (queue) => queue.disconnect());
  }
}

function valueOf<T>(settled: PromiseSettledResult<T>): T {
  return (settled as PromiseFulfilledResult<T>).value;
}

async function addAll<J, A>(jobs: readonly J[], add: (jobs: J[]) => Promise<A[]>): Promise<A[]> {
  return jobs.length === 0 ? [] : add([...jobs]);
}
