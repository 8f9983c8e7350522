import { Injectable } from '@nestjs/common';
import { digest, Keys } from '../keys.js';
import { queueOfJobId } from '../kinds/ids.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import type { Order, Target } from './order.js';

/** What a cancellation did, as it stands now. */
export interface Receipt {
  readonly cancelId: string;
  readonly owner: string;
  /** The one job that was cancelled; absent when it was all of the owner. */
  readonly job?: string;
  /** The owner's generation since; null when nothing is known of the owner. */
  readonly epoch: string | null;
  readonly reason: string;
  readonly by: string;
  readonly at: string;
  /** Whether the owner refuses new jobs until it is reopened. */
  readonly closed: boolean;
  /** Jobs that were taken out of their queues; none of them ever starts. */
  readonly removed: number;
  /** Runs that were told to stop: how many ended when told, how many were abandoned, how many still hold their lease. */
  readonly aborted: number;
  readonly acknowledged: number;
  readonly ignored: number;
  readonly running: number;
  readonly byQueue: Readonly<Record<string, QueueReceipt>>;
  /** Schedules that ended with the owner. */
  readonly schedules: number;
  /** Nothing is left of it, in any queue or index. */
  readonly done: boolean;
  /** Whether `durability` confirmed the cancel; always false without `durability`. */
  readonly durable: boolean;
  /** Nothing was done: the owner was reopened after that which this was about. */
  readonly late?: true;
  /** Nobody asked for it: the sweep found that the owner is gone. */
  readonly why?: 'orphan';
}

export interface QueueReceipt {
  /** By the state the jobs were in. */
  readonly removed: Readonly<Record<string, number>>;
  readonly aborted: number;
  readonly running: number;
}

/** Why a job is taken out, as its history says it. */
export interface Cause extends Pick<Receipt, 'cancelId' | 'owner' | 'reason' | 'by'> {
  readonly why: 'cancelled' | 'orphan';
}

/** What the script keeps as it is: see `o:cancel` in keys.ts. */
export interface About {
  readonly c: string;
  readonly o: string;
  readonly j?: string;
  readonly r: string;
  readonly w: string;
  readonly x: boolean;
  /** Absent: cancelled. */
  readonly y?: 'orphan';
}

export function aboutOf({ cancelId, owner, job, reason, by, close, why }: Order): About {
  return {
    c: cancelId,
    o: owner,
    ...(job !== undefined && { j: job }),
    r: reason,
    w: by,
    x: close,
    ...(why === 'orphan' && { y: why }),
  };
}

/**
 * Reads receipts. Of a receipt the store keeps: a what it is about, t when, e and b the epochs after and before, d when it
 * was done, f set once `durability` confirmed it, `n:<queue>|<state>` how many jobs were removed, `run:<job>|<token>` told,
 * acknowledged or ignored, and `s:<schedule>` for each schedule that went along.
 */
@Injectable()
export class Receipts {
  private readonly keys: Keys;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  /** The receipt of a cancelId, or nothing: there was none, or it is forgotten. */
  async find(cancelId: string): Promise<Receipt | undefined> {
    const target = await this.target(digest(cancelId));
    return target && (await this.read(target));
  }

  async target(id: string): Promise<Target | undefined> {
    const text = await this.store.call(() => this.store.redis.get(`${this.keys.cancels}:${id}`));
    return text === null ? undefined : (JSON.parse(text) as Target);
  }

  /** What is said of the cancel itself, without what became of it; a cancel whose receipt is forgotten has no words left. */
  async about({ cancelId, owner }: Target): Promise<Cause> {
    const name = `${this.keys.ownerText(owner)}:cancel:${digest(cancelId)}`;
    const text = await this.store.call(() => this.store.redis.hget(name, 'a'));
    const about: Partial<About> = text === null ? {} : (JSON.parse(text) as About);
    const { r = '?', w = '?', y = 'cancelled' } = about;
    return { cancelId, owner, reason: r, by: w, why: y };
  }

  /** When it was done, ms; undefined while it is not, and when there is no receipt. */
  async doneAt({ cancelId, owner }: Target): Promise<number | undefined> {
    const name = `${this.keys.ownerText(owner)}:cancel:${digest(cancelId)}`;
    const text = await this.store.call(() => this.store.redis.hget(name, 'd'));
    return text === null ? undefined : Number(text);
  }

  /** Set once `durability` confirmed the cancel. A receipt that is forgotten meanwhile stays so. */
  async noteHeld({ cancelId, owner }: Target): Promise<void> {
    const record = [this.keys.ownerText(owner)];
    await this.store.call(() => runScript(this.store.redis, 'held', record, [digest(cancelId)]));
  }

  async read({ cancelId, owner }: Target): Promise<Receipt | undefined> {
    const record = this.keys.ownerText(owner);
    const { redis } = this.store;
    const fields = await this.store.call(() => redis.hgetall(`${record}:cancel:${digest(cancelId)}`));
    if (!fields['a']) return undefined;
    const told = Object.keys(fields).filter((name) => name.startsWith('run:') && fields[name] === 'told');
    return receiptOf(fields, await this.living(record, told));
  }

  /** Of the runs that were told and did not answer: those that hold their lease. The others died with their worker. */
  private async living(record: string, told: readonly string[]): Promise<Set<string>> {
    if (told.length === 0) return new Set();
    const { redis } = this.store;
    const [[seconds], ends] = await this.store.call(() =>
      Promise.all([
        redis.time(),
        Promise.all(told.map((name) => redis.zscore(`${record}:runs`, name.slice(4)))),
      ]),
    );
    return new Set(told.filter((_, i) => Number(ends[i] ?? 0) > Number(seconds) * 1_000));
  }
}

function receiptOf(fields: Readonly<Record<string, string>>, living: ReadonlySet<string>): Receipt {
  const about = JSON.parse(fields['a']!) as About;
  const byQueue: Record<string, { removed: Record<string, number>; aborted: number; running: number }> = {};
  const of = (queue: string): (typeof byQueue)[string] =>
    (byQueue[queue] ??= { removed: {}, aborted: 0, running: 0 });
  const count = { removed: 0, aborted: 0, acknowledged: 0, ignored: 0 };
  const schedules = Object.keys(fields).filter((name) => name.startsWith('s:')).length;
  for (const [name, value] of Object.entries(fields)) {
    if (name.startsWith('n:')) {
      const [queue, state] = name.slice(2).split('|') as [string, string];
      of(queue).removed[state] = Number(value);
      count.removed += Number(value);
    } else if (name.startsWith('run:')) {
      const queue = of(queueOfJobId(name.slice(4, name.lastIndexOf('|'))) ?? '?');
      queue.aborted += 1;
      queue.running += living.has(name) ? 1 : 0;
      count.aborted += 1;
      if (value === 'acknowledged' || value === 'ignored') count[value] += 1;
    }
  }
  return {
    cancelId: about.c,
    owner: about.o,
    ...(about.j !== undefined && { job: about.j }),
    epoch: fields['e'] || null,
    reason: about.r,
    by: about.w,
    at: new Date(Number(fields['t'])).toISOString(),
    closed: about.x,
    ...count,
    running: living.size,
    byQueue,
    schedules,
    done: fields['d'] !== undefined,
    durable: fields['f'] !== undefined,
    ...(about.y && { why: about.y }),
  };
}
