import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Enqueuer } from '../enqueue/enqueuer.js';
import { InvalidJobError, OwnerClosedError, OwnerMovedError, TooLargeError } from '../errors.js';
import { Journal } from '../journal.js';
import { jobIdFor } from '../kinds/ids.js';
import { KindRegistry } from '../kinds/kind.registry.js';
import { LifecycleOptions } from '../options.js';
import { Store } from '../store.js';
import { ScheduleBook, type Claimed, type Plan } from './schedule.book.js';
import { jobOptions } from './schedule.js';
import { Schedules } from './schedules.js';
import { nextAfter } from './timing.js';

const PAGE = 50;
const MOST_PAGES = 20;

/** What a look at the clock brought about. */
export interface Ticked {
  /** How many schedules were due. */
  readonly due: number;
  /** How many of them had their turn, ended with their owner, and are to be tried again. */
  readonly enqueued: number;
  readonly ended: number;
  readonly failed: number;
}

type Fate = 'enqueued' | 'ended' | 'failed' | 'idle';

/**
 * Gives schedules that are due their turns. Any number of processes may do it: a turn's job has an id that follows from
 * the schedule and the time it was due, so a turn that is taken twice, or again after a crash, makes one job. Turns that
 * nobody took in time are one turn, as soon as somebody looks.
 */
@Injectable()
export class Ticker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private underWay: Promise<void> | undefined;

  constructor(
    private readonly options: LifecycleOptions,
    private readonly kinds: KindRegistry,
    private readonly enqueuer: Enqueuer,
    private readonly schedules: Schedules,
    private readonly book: ScheduleBook,
    private readonly store: Store,
    private readonly journal: Journal,
  ) {}

  onApplicationBootstrap(): void {
    const { tickEveryMs } = this.options;
    if (tickEveryMs === undefined) return;
    this.timer = setInterval(() => {
      this.underWay ??= this.tick()
        .then(nothing, (error: unknown) => this.journal.queueError('schedules', error))
        .finally(() => (this.underWay = undefined));
    }, tickEveryMs);
    this.timer.unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.underWay;
  }

  /** One look at the clock. */
  async tick(): Promise<Ticked> {
    const fates: Fate[] = [];
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const { claimed, nowMs } = await this.store.call(() => this.book.claim(PAGE));
      fates.push(...(await Promise.all(claimed.map((one) => this.look(one, nowMs)))));
      if (claimed.length < PAGE) break;
    }
    const count = (fate: Fate): number => fates.filter((one) => one === fate).length;
    const [enqueued, ended, failed] = [count('enqueued'), count('ended'), count('failed')];
    return { due: enqueued + ended + failed, enqueued, ended, failed };
  }

  private async look({ name, plan, isUndone }: Claimed, nowMs: number): Promise<Fate> {
    try {
      if (isUndone) await this.store.call(() => this.schedules.tidy(name));
      if (!plan) return 'idle';
      if (plan.dueMs > nowMs) {
        await this.store.call(() => this.book.turn(plan, plan.dueMs));
        return 'idle';
      }
      return await this.take(plan, nowMs);
    } catch (error) {
      // Somebody is given it again in a while.
      this.journal.scheduleFailed(plan?.id ?? name, plan?.owners[0] ?? '?', error);
      return 'failed';
    }
  }

  private async take(plan: Plan, nowMs: number): Promise<Fate> {
    const nextMs = nextAfter(plan.definition.timing, nowMs, plan.dueMs);
    try {
      const jobId = await this.enqueue(plan);
      await this.store.call(() => this.book.turn(plan, nextMs, { jobId }));
      return 'enqueued';
    } catch (error) {
      if (error instanceof OwnerMovedError || error instanceof OwnerClosedError) {
        await this.store.call(() => this.schedules.end(plan));
        return 'ended';
      }
      // The next turn may fare better, when its kind has changed again; this one would not.
      if (!(error instanceof InvalidJobError) && !(error instanceof TooLargeError)) throw error;
      await this.store.call(() => this.book.turn(plan, nextMs, { why: error.message }));
      this.journal.scheduleFailed(plan.id, plan.owners[0]!, error);
      return 'failed';
    }
  }

  /** The job that does this turn: its own, or one that was pending. */
  private async enqueue({ id, definition, owners, epochs, dueMs }: Plan): Promise<string> {
    const kind = this.kinds.get(definition.kind);
    const jobId = jobIdFor(kind.queue, ['schedule', id, ...epochs, dueMs].join('\0'));
    const options = jobOptions(definition, owners);
    const ticket = await this.enqueuer.enqueueOnce(kind, definition.payload, options, { jobId, epochs });
    return ticket.id;
  }
}

function nothing(): void {}
