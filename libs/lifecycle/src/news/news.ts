import { Injectable } from '@nestjs/common';
import type { Receipt } from '../cancel/receipts.js';
import { Journal, type Fact } from '../journal.js';
import { digest, Keys } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Store } from '../store.js';
import type { SweepRecord } from '../sweep/sweep.record.js';

/** What others are told of, and what lasts until they are. */
export type NewsOf = 'cancels' | 'sweeps';

/**
 * What other services are told of although a process dies: an owner that was cancelled, a sweep that ended. Each is listed in a
 * step that comes before it is told, and struck off the list when the teller has told it; what stays there the repair tells
 * again. Where nobody is told nothing is listed.
 */
@Injectable()
export class News {
  readonly areCancelsTold: boolean;
  readonly areSweepsTold: boolean;
  private readonly lists: Readonly<Record<NewsOf, string>>;

  constructor(
    { prefix = LIFECYCLE_DEFAULTS.prefix, teller }: LifecycleOptions,
    private readonly store: Store,
    private readonly journal: Journal,
  ) {
    const { cancels, sweeps } = new Keys(prefix);
    this.lists = { cancels: `${cancels}:untold`, sweeps: `${sweeps}:untold` };
    this.areCancelsTold = teller?.tellsCancels ?? false;
    this.areSweepsTold = teller?.tellsSweeps ?? false;
  }

  /** Whether a sweep that ended so is to be listed. */
  isTold(record: SweepRecord): record is SweepRecord & { readonly state: 'done' | 'tripped' } {
    return this.areSweepsTold && (record.state === 'done' || record.state === 'tripped');
  }

  ownerCancelled(receipt: Receipt): void {
    const told = this.journal.ownerCancelled(receipt);
    if (told) this.strikeWhen(told, 'cancels', digest(receipt.cancelId));
  }

  sweepEnded(record: SweepRecord): void {
    const told = this.journal.sweepEnded(record);
    // Some are listed that turn out to be no news.
    if (this.isTold(record)) this.strikeWhen(told ?? Promise.resolve(true), 'sweeps', record.sweepId);
  }

  /** Once more, to other services alone; false when they could not be told. Nothing: to this process it is no news. */
  tellAgain(fact: Fact): Promise<boolean> | undefined {
    return this.journal.tellAgain(fact);
  }

  /** Those that are listed, the oldest first. */
  page(of: NewsOf, from: number, limit: number): Promise<string[]> {
    return this.store.call(() =>
      this.store.redis.zrange(this.lists[of], String(from), String(from + limit - 1)),
    );
  }

  /** Whether it was listed still. */
  async strike(of: NewsOf, id: string): Promise<boolean> {
    return (await this.store.call(() => this.store.redis.zrem(this.lists[of], id))) === 1;
  }

  /** Nobody waits for it: what is not struck off is told once more, which does no harm. */
  private strikeWhen(told: Promise<boolean>, of: NewsOf, id: string): void {
    told
      .then((isTold) => isTold && this.strike(of, id))
      .catch((error: unknown) => this.journal.queueError('news', error));
  }
}
