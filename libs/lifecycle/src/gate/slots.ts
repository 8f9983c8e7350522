import { Injectable } from '@nestjs/common';
import { Job, type Queue } from 'bullmq';
import { Journal } from '../journal.js';
import { Keys } from '../keys.js';
import { slotOfKey, type Envelope } from '../kinds/envelope.js';
import { queueOfJobId } from '../kinds/ids.js';
import { FIRST } from '../kinds/priority.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Queues } from '../queues.js';
import type { Run } from '../run/run.js';
import { ScriptBatch, type Answer } from '../script-batch.js';

/** A job that holds its slots, was granted one, or stands in line for one. */
interface Waiter {
  readonly jobId: string;
  /** Without its owners and its deduplication key only the slot that it names is meant. */
  readonly envelope: Pick<Envelope, 's'> & Partial<Pick<Envelope, 'o' | 'd'>>;
}

type Slot = NonNullable<Envelope['s']>;

/** When one that is not the first in line looks again by itself: the later, the more stand before it. */
const SAFETY_NET_MS = 30_000;
const TWICE_AS_LATE_BEHIND = 100;
const WIDEST_NET_MS = 60_000;
/** After a lease has ended: BullMQ's clock is the worker's, and may be a little early. */
const AFTER_LEASE_MS = 50;

/**
 * Leave to run for a concurrency key, first accepted, first served, over the whole fleet. Whose slot frees wakes the one who
 * stands first: it goes before all other waiting jobs of its queue, for its turn has come already.
 *
 * A job with a deduplication key needs the slot of that key, of which there is one, also when it names another. It stands in
 * one line at a time: who has one slot and not the other gives it back, as others could run meanwhile.
 */
@Injectable()
export class Slots {
  private readonly keys: Keys;
  private readonly asking: ScriptBatch;
  private readonly leaseMs: number;

  constructor(
    options: LifecycleOptions,
    private readonly queues: Queues,
    private readonly journal: Journal,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
    this.asking = new ScriptBatch(options.redis, 'take', () => ['']);
    this.leaseMs = options.worker?.lockMs ?? LIFECYCLE_DEFAULTS.lockMs;
  }

  /** A job that is about to be added gets its place: in the order in which jobs are accepted, not that of the workers. */
  async stand({ jobId, envelope }: Waiter): Promise<void> {
    await this.ask('stand', jobId, envelope.s!);
  }

  /** Takes all slots that this run needs, or a place in line for one: nothing, or how long to wait before looking again. */
  async take(run: Run): Promise<number | undefined> {
    const slots = slotsOf(run);
    for (const [i, slot] of slots.entries()) {
      const retryInMs = await this.takeOne(run, slot);
      if (retryInMs === undefined) continue;
      await this.giveAll(slots.slice(0, i), run);
      await this.quitAll(slots.slice(i + 1), run.jobId);
      return retryInMs;
    }
    return undefined;
  }

  /** Whether the slots are still this run's; they are kept for another lease. */
  async hold({ jobId, token, envelope }: Run): Promise<boolean> {
    const answers = await Promise.all(
      slotsOf({ envelope }).map((slot) => this.ask('hold', jobId, slot, token)),
    );
    return answers.every(([word]) => word === 'held');
  }

  /** This run's slots are free for the next. */
  async give(run: Run): Promise<void> {
    await this.giveAll(slotsOf(run), run);
  }

  /** The job will not come: its place in line, or the slot it was granted, is for the next. */
  async quit(waiter: Waiter): Promise<void> {
    await this.quitAll(slotsOf(waiter), waiter.jobId);
  }

  /** What ran out or is gone leaves a key's slots, whatever its limit; nobody is granted anything by it. */
  async tidy(key: string, jobId: string): Promise<void> {
    await this.asking.ask(key, ['quit', jobId, '', 0, 0, 0]);
  }

  /** A job that was just put off may have been granted its slot in that moment, when there was nobody yet to wake. */
  async wakeIfGranted(waiter: Waiter): Promise<void> {
    await Promise.all(
      slotsOf(waiter).map(async (slot) => {
        const [word, ...woken] = await this.ask('look', waiter.jobId, slot);
        this.wakeAll(slot, word === 'granted' ? [waiter.jobId, ...woken] : woken);
      }),
    );
  }

  /** A limit was raised: those are woken that are granted a slot by it. */
  async grantFree(slot: Slot): Promise<void> {
    const [, ...woken] = await this.ask('look', '', slot);
    this.wakeAll(slot, woken);
  }

  /**
   * The first in line looks when the next hold would end: should its holder be dead, nobody else would wake it. So whoever
   * takes a slot tells the one that is first from then on.
   */
  private async takeOne({ jobId, token }: Run, slot: Slot): Promise<number | undefined> {
    const [word, ...rest] = await this.ask('take', jobId, slot, token);
    if (word === 'taken') {
      const [next, ...woken] = rest;
      this.wakeAll(slot, woken);
      if (next) void this.tellNext(next);
      return undefined;
    }
    const [leaseEndsInMs, before, ...woken] = rest;
    this.wakeAll(slot, woken);
    return lookAgainInMs(Number(leaseEndsInMs), Number(before));
  }

  private async giveAll(slots: readonly Slot[], { jobId, token }: Run): Promise<void> {
    await Promise.all(slots.map((slot) => this.leave('give', jobId, slot, token)));
  }

  private async quitAll(slots: readonly Slot[], jobId: string): Promise<void> {
    await Promise.all(slots.map((slot) => this.leave('quit', jobId, slot, '')));
  }

  private async leave(act: 'give' | 'quit', jobId: string, slot: Slot, token: string): Promise<void> {
    const [, ...woken] = await this.ask(act, jobId, slot, token);
    this.wakeAll(slot, woken);
  }

  private ask(act: string, jobId: string, [key, limit, accepted]: Slot, token = ''): Promise<Answer> {
    return this.asking.ask(this.keys.slot(key), [act, jobId, token, limit, this.leaseMs, accepted]);
  }

  /** Jobs that were granted that slot. */
  private wakeAll(slot: Slot, jobIds: readonly (string | undefined)[]): void {
    for (const jobId of jobIds) {
      if (jobId) void this.wake(slot, jobId);
    }
  }

  /** Nobody waits for this: should it fail, the job looks again by itself, and its grant ends with the lease. */
  private async wake(slot: Slot, jobId: string): Promise<void> {
    const queueName = queueOfJobId(jobId);
    if (!queueName) return;
    // Whoever cleans up after a cancel may know no kind of that queue.
    const queue = this.queues.open(queueName);
    const job = new Job(queue, '', undefined, {}, jobId);
    try {
      // Sent together, in this order: it goes before others now, not when it was put off.
      await Promise.all([job.changePriority({ priority: FIRST }), job.promote()]);
    } catch (error) {
      await this.passOn(slot, jobId, queue, error).catch((other: unknown) =>
        this.journal.queueError(queueName, other),
      );
    }
  }

  /** One that is not put off waits among others, and goes before them now; or it is gone, and must not be waited for. */
  private async passOn(slot: Slot, jobId: string, queue: Queue, error: unknown): Promise<void> {
    if (!isElsewhere(error)) throw error;
    const state = await queue.getJobState(jobId);
    if (state === 'unknown' || state === 'completed' || state === 'failed') {
      return this.quitAll([slot], jobId);
    }
    // It has come already: what it does after this turn, a retry say, is no reason to go before others.
    if (state === 'active') await restorePriority(queue, jobId);
  }

  /** Nobody waits for this either: should it fail, it looks as it would have behind others. */
  private async tellNext(jobId: string): Promise<void> {
    const queueName = queueOfJobId(jobId);
    if (!queueName) return;
    try {
      const job = new Job(this.queues.open(queueName), '', undefined, {}, jobId);
      await job.changeDelay(this.leaseMs + AFTER_LEASE_MS);
    } catch (error) {
      if (!isElsewhere(error)) this.journal.queueError(queueName, error);
    }
  }
}

/** The slot that was named, and that of the job's deduplication key. */
function slotsOf({ envelope: { o, d, s } }: Pick<Waiter, 'envelope'>): readonly Slot[] {
  if (!s) return [];
  const ofKey = o?.[0] && d ? slotOfKey(o[0], d) : s[0];
  return ofKey === s[0] ? [s] : [s, [ofKey, 1, s[2]]];
}

function lookAgainInMs(leaseEndsInMs: number, before: number): number {
  if (before === 0) return leaseEndsInMs + AFTER_LEASE_MS;
  return Math.min(WIDEST_NET_MS, Math.round(SAFETY_NET_MS * (1 + before / TWICE_AS_LATE_BEHIND)));
}

async function restorePriority(queue: Queue, jobId: string): Promise<void> {
  const job = await Job.fromId(queue, jobId);
  await job?.changePriority({ priority: job.opts.priority ?? FIRST });
}

function isElsewhere(error: unknown): boolean {
  return /delayed|Missing/i.test((error as Error).message);
}
