import { Injectable } from '@nestjs/common';
import { Journal } from '../journal.js';
import { Keys } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import type { Tally } from './healing.js';
import type { Round } from './sweep.js';

const DAY_MS = 86_400_000;

/**
 * Owners that were closed without ever having had a job. They expire by themselves; a forced repair forgets those that have been
 * closed for more than a day, which makes room below `MAX_CLOSED` and in the store.
 */
@Injectable()
export class ClosedOwners {
  private readonly counts: string;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
    private readonly journal: Journal,
  ) {
    this.counts = `${new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix).cancels}:closed`;
  }

  async purge(records: readonly string[], nowMs: number, tally: Tally, { dryRun }: Round): Promise<void> {
    const { redis } = this.store;
    const args = [nowMs - DAY_MS, dryRun ? 0 : 1];
    const answers = await this.store.call(() =>
      Promise.all(records.map((record) => runScript(redis, 'purge', [record], args) as Promise<string>)),
    );
    const closedAt = answers.filter((answer) => answer !== '').map(Number);
    if (closedAt.length === 0) return;
    const what = `${closedAt.length} closed owner(s)`;
    tally.seen += closedAt.length;
    tally.healed += closedAt.length;
    tally.lines.push({
      what,
      why: 'closed for more than a day without ever having had a job; forgotten by force',
    });
    if (dryRun) return;
    await this.uncount(closedAt);
    this.journal.entryHealed('closed', what);
  }

  private async uncount(closedAt: readonly number[]): Promise<void> {
    const days = new Map<number, number>();
    for (const ms of closedAt)
      days.set(Math.floor(ms / DAY_MS), (days.get(Math.floor(ms / DAY_MS)) ?? 0) + 1);
    await this.store.call(() =>
      Promise.all(
        [...days].map(([day, count]) => this.store.redis.hincrby(this.counts, String(day), -count)),
      ),
    );
  }
}
