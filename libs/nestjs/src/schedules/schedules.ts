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
const CURSOR = /^\d{1,15}$/;

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
   * A page, queue by queue, those that are due first before the others. `cursor` says where the next one begins, null on the last one. A
   * schedule whose turn begins meanwhile may be on two pages, or on none.
   */
  async list(cursor = '0'): Promise<{ schedules: ScheduleView[]; cursor: string | null }> {
    if (!CURSOR.test(cursor)) throw new InvalidJobError('This cursor is not one of a list of schedules.');
    const found: (StoredScheduler | undefined)[] = [];
    let from = Number(cursor);
    for (const queue of this.queues.all().toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      // One more than the page holds says that there is another.
      const page = await queue.backend.getJobSchedulersRange(from, from + PAGE - found.length, true);
      const keys = page.filter((_, i) => i % 2 === 0);
      found.push(...(await Promise.all(keys.map((key) => readIn(queue, key)))));
      if (found.length > PAGE) break;
      from = keys.length > 0 ? 0 : Math.max(0, from - (await queue.getJobSchedulersCount()));
    }
    const schedules = found.slice(0, PAGE).filter((each) => each !== undefined);
    const next = found.length > PAGE ? String(Number(cursor) + PAGE) : null;
    return { schedules: schedules.map(({ view }) => view), cursor: next };
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
