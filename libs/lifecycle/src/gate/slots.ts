import { Injectable } from '@nestjs/common';
import { Job, type Queue } from 'bullmq';
import { Journal } from '../journal.js';
import { Keys } from '../keys.js';
import type { Envelope } from '../kinds/envelope.js';
import { queueOfJobId } from '../kinds/ids.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Queues } from '../queues.js';
import type { Run } from '../run/run.js';
import { ScriptBatch, type Answer } from '../script-batch.js';

/** A job that holds a slot, was granted one, or stands in line for one. */
interface Waiter {
  readonly jobId: string;
  readonly envelope: Pick<Envelope, 's'>;
}

/** When a job that waits for a slot looks again by itself, should nobody have woken it. */
const SAFETY_NET_MS = 30_000;
/** After a lease has ended: BullMQ's clock is the worker's, and may be a little early. */
const AFTER_LEASE_MS = 50;

/**
 * Leave to run for a concurrency key, first accepted, first served, over the whole fleet. Whose slot frees wakes the one who
 * stands first: it goes before all other waiting jobs of its queue, for its turn has come already.
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
  async stand(waiter: Waiter): Promise<void> {
    await this.ask('stand', waiter);
  }

  /**
   * Takes a slot for this run, or a place in line: nothing, or how long to wait before looking again. The first in line
   * looks when the next hold would end: should its holder be dead, nobody else would wake it.
   */
  async take(run: Run): Promise<number | undefined> {
    const [word, ...rest] = await this.ask('take', run, run.token);
    this.wakeAll(run, word === 'taken' ? rest : rest.slice(1));
    if (word === 'taken') return undefined;
    const leaseEndsInMs = Number(rest[0]);
    return leaseEndsInMs > 0 ? leaseEndsInMs + AFTER_LEASE_MS : SAFETY_NET_MS;
  }

  /** Whether the slot is still this run's; it is kept for another lease. */
  async hold(run: Run): Promise<boolean> {
    return (await this.ask('hold', run, run.token))[0] === 'held';
  }

  /** This run's slot is free for the next. */
  async give(run: Run): Promise<void> {
    const [, ...woken] = await this.ask('give', run, run.token);
    this.wakeAll(run, woken);
  }

  /** The job will not come: its place in line, or the slot it was granted, is for the next. */
  async quit(waiter: Waiter): Promise<void> {
    const [, ...woken] = await this.ask('quit', waiter);
    this.wakeAll(waiter, woken);
  }

  /** What ran out or is gone leaves a key's slots, whatever its limit; nobody is granted anything by it. */
  async tidy(key: string, jobId: string): Promise<void> {
    await this.asking.ask(key, ['quit', jobId, '', 0, 0, 0]);
  }

  /** A job that was just put off may have been granted its slot in that moment, when there was nobody yet to wake. */
  async wakeIfGranted(waiter: Waiter): Promise<void> {
    const [word, ...woken] = await this.ask('look', waiter);
    this.wakeAll(waiter, word === 'granted' ? [waiter.jobId, ...woken] : woken);
  }

  private ask(act: string, { envelope, jobId }: Waiter, token = ''): Promise<Answer> {
    const [key, limit, accepted] = envelope.s!;
    return this.asking.ask(this.keys.slot(key), [act, jobId, token, limit, this.leaseMs, accepted]);
  }

  /** Jobs that were granted slots of the same key as this one's. */
  private wakeAll({ envelope }: Waiter, jobIds: readonly (string | undefined)[]): void {
    for (const jobId of jobIds) {
      if (jobId) void this.wake({ envelope, jobId });
    }
  }

  /** Nobody waits for this: should it fail, the job looks again by itself, and its grant ends with the lease. */
  private async wake(granted: Waiter): Promise<void> {
    const { jobId } = granted;
    const queueName = queueOfJobId(jobId);
    if (!queueName) return;
    // Whoever cleans up after a cancel may know no kind of that queue.
    const queue = this.queues.open(queueName);
    try {
      await new Job(queue, '', undefined, {}, jobId).promote();
    } catch (error) {
      await this.passOn(granted, queue, error).catch((other: unknown) =>
        this.journal.queueError(queueName, other),
      );
    }
  }

  /** One that is not put off waits among others, and is let through; or it is gone, and must not be waited for. */
  private async passOn(granted: Waiter, queue: Queue, error: unknown): Promise<void> {
    if (!/delayed|Missing/i.test((error as Error).message)) throw error;
    const state = await queue.getJobState(granted.jobId);
    if (state === 'unknown' || state === 'completed' || state === 'failed') return this.quit(granted);
    if (state === 'prioritized')
      await new Job(queue, '', undefined, {}, granted.jobId).changePriority({ priority: 0 });
  }
}
