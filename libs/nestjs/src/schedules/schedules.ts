import { InvalidJobError, type MooredQueue, type Owner } from '#core';
import { Injectable } from '@nestjs/common';
import { JobRequests } from '../enqueue/job-requests.js';
import { QueueRegistry } from '../enqueue/queue-registry.js';
import { nameSlot, type EnqueueOptions } from '../enqueue/enqueue-options.js';
import { jobIdFor } from '../kinds/job-ids.js';
import type { Kind } from '../kinds/kind.js';
import { checkScheduleId, readScheduler, type ScheduleView, type StoredScheduler } from './schedule.js';
import { readTiming, type TimingOptions } from './timing.js';

const PAGE = 100;
const CURSOR = /^(\d{1,9})@(.+)$/;

export interface ScheduleOptions
  extends TimingOptions, Pick<EnqueueOptions, 'expiresIn' | 'priority' | 'slot' | 'dedup' | 'origin'> {
  /** One to four owners; the schedule ends when one of them is cancelled. Default those that the kind names. */
  readonly owners?: readonly (Owner | string)[] | undefined;
  readonly payload?: unknown;
}

/**
 * Jobs that come again and again. A schedule is a job scheduler of BullMQ's in the queue of its kind: it has one turn at a time, which is a
 * job of its owners, and ends with them.
 */
@Injectable()
export class Schedules {
  constructor(
    private readonly requests: JobRequests,
    private readonly queues: QueueRegistry,
  ) {}

  /**
   * Makes a schedule, or takes the place of the one of that id. With the same `every` it goes on when that was due. Answers no schedule if
   * a cancel has ended it already.
   */
  async put(
    id: string,
    kind: Kind,
    options: ScheduleOptions,
  ): Promise<{ outcome: 'created' | 'replaced'; schedule: ScheduleView | undefined }> {
    checkScheduleId(id);
    const repeat = readTiming(options);
    // By default at most one of its jobs runs at a time, however long they take.
    const { payload, dedup = { strategy: 'skip', key: id }, ...rest } = options;
    const { jobId: _, ...opts } = (await this.requests.read(kind, payload, { ...rest, dedup })).options;
    const before = await this.find(id);
    const queue = this.queues.get(kind.queue);
    const mark = { id, putAt: Date.now() };
    const template = { name: kind.name, data: payload, opts: { ...opts, schedule: mark } };
    const put = queue.upsertJobScheduler(jobIdFor(queue.name, id), repeat, template);
    await put.catch((error: unknown) => nameSlot(error, opts.slot));
    const after = await this.find(id);
    await this.keepNewest(after);
    const schedule = after.get(queue)?.view;
    return { outcome: before.size > 0 ? 'replaced' : 'created', schedule };
  }

  async get(id: string): Promise<ScheduleView | undefined> {
    checkScheduleId(id);
    return newestOf(await this.find(id))?.view;
  }

  /** Whether there was one. Jobs whose turn has come go on. */
  async remove(id: string): Promise<boolean> {
    checkScheduleId(id);
    const removed = await Promise.all(this.queues.all().map((queue) => removeIn(queue, id)));
    return removed.includes(true);
  }

  /**
   * A page of about a hundred, queue by queue, those that are due first before the others. `cursor` says where the next one begins, null
   * on the last one. A schedule whose turn begins meanwhile may be on two pages, or on none.
   */
  async list(cursor?: string): Promise<{ schedules: ScheduleView[]; cursor: string | null }> {
    const queues = this.queues.all().toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const [, rank = '0', name = queues[0]?.name ?? ''] = CURSOR.exec(cursor ?? '') ?? [];
    const at = queues.findIndex((queue) => queue.name === name);
    if (cursor !== undefined && (at === -1 || !CURSOR.test(cursor)))
      throw new InvalidJobError('This cursor is not one of a list of schedules.');
    const from = Number(rank);
    const page = (await queues[at]?.backend.getJobSchedulersRange(from, from + PAGE - 1, true)) ?? [];
    const keys = page.filter((_, i) => i % 2 === 0);
    const found = await Promise.all(keys.map((key) => readIn(queues[at]!, key)));
    const following = queues[at + 1];
    const next = keys.length === PAGE ? `${from + PAGE}@${name}` : following ? `0@${following.name}` : null;
    const schedules = found.filter((each) => each !== undefined).map(({ view }) => view);
    return schedules.length === 0 && next !== null ? this.list(next) : { schedules, cursor: next };
  }

  /** The schedules of that id, by their queues. More than one is there only while its kind changes to one of another queue. */
  private async find(id: string): Promise<Map<MooredQueue, StoredScheduler>> {
    const queues = this.queues.all();
    const found = await Promise.all(queues.map((queue) => readIn(queue, jobIdFor(queue.name, id))));
    const pairs = queues.map((queue, i) => [queue, found[i]] as const);
    return new Map(pairs.filter((pair): pair is [MooredQueue, StoredScheduler] => pair[1] !== undefined));
  }

  /** Of two that were put at once into two queues, both callers keep the same one. */
  private async keepNewest(found: ReadonlyMap<MooredQueue, StoredScheduler>): Promise<void> {
    const newest = newestOf(found);
    const others = [...found].filter(([, each]) => each !== newest);
    await Promise.all(others.map(([queue, { mark }]) => removeIn(queue, mark.id)));
  }
}

function newestOf(found: ReadonlyMap<MooredQueue, StoredScheduler>): StoredScheduler | undefined {
  const byAge = (a: StoredScheduler, b: StoredScheduler): number =>
    b.mark.putAt - a.mark.putAt || (a.view.kind < b.view.kind ? -1 : 1);
  return [...found.values()].toSorted(byAge)[0];
}

async function readIn(queue: MooredQueue, key: string): Promise<StoredScheduler | undefined> {
  const [raw, next] = (await queue.backend.getJobScheduler(key)) as [string[] | null, string | null];
  return readScheduler(raw, next);
}

function removeIn(queue: MooredQueue, id: string): Promise<boolean> {
  return queue.removeJobScheduler(jobIdFor(queue.name, id));
}
