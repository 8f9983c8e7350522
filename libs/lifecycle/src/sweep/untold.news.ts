import { Injectable } from '@nestjs/common';
import { Receipts } from '../cancel/receipts.js';
import { Journal, type Fact } from '../journal.js';
import { Keys, UNTOLD_GRACE_MS } from '../keys.js';
import { News, type NewsOf } from '../news/news.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Store } from '../store.js';
import { Healing, type Tally } from './healing.js';
import type { Round } from './sweep.js';
import { SweepBook } from './sweep.book.js';

/** How long the teller may take. */
const TELL_MS = 5_000;

type Lasting = Extract<Fact, { readonly event: 'owner.cancelled' } | { readonly sweepId: string }>;
/** What is to be told; or why not: it is `early`, or there is `nothing` to tell any more. */
type Finding = Lasting | 'early' | 'nothing';

/** `late`: the teller has not said in time whether it is told. */
type Became = 'struck' | 'listed' | 'late';

/** Tells other services what a process that died, or whose store was away, has not told them. Under the same ids: twice is once. */
@Injectable()
export class UntoldNews {
  private readonly cancels: string;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
    private readonly news: News,
    private readonly receipts: Receipts,
    private readonly book: SweepBook,
    private readonly healing: Healing,
    private readonly journal: Journal,
  ) {
    this.cancels = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix).cancels;
  }

  /** A page, from after so many that stay listed. Answers after how many the next begins; nothing when that was the last. */
  async tell(
    of: NewsOf,
    from: number,
    limit: number,
    tally: Tally,
    round: Round,
  ): Promise<number | undefined> {
    // Others of the fleet may tell of what this process does not: it is theirs.
    if (of === 'cancels' ? !this.news.areCancelsTold : !this.news.areSweepsTold) return undefined;
    const ids = await this.news.page(of, from, limit);
    const now = await this.store.now();
    let left = 0;
    for (const id of ids) {
      if (round.signal.aborted) return from;
      const became = await this.tellOne(of, id, now, tally, round).catch((error: unknown): Became => {
        // One that cannot be read must not stand before the others.
        this.journal.sweepTrouble('repair', id, error);
        tally.failed += 1;
        return 'listed';
      });
      // Nor does the rest of the repair wait for a teller that hangs: the next one tells them.
      if (became === 'late') return undefined;
      if (became === 'listed') left += 1;
    }
    return ids.length < limit ? undefined : from + left;
  }

  private async tellOne(of: NewsOf, id: string, now: number, tally: Tally, round: Round): Promise<Became> {
    const fact = await (of === 'cancels' ? this.findCancel(id, now) : this.findSweep(id, now));
    if (fact === 'early') return 'listed';
    if (fact === 'nothing') return !round.dryRun && (await this.news.strike(of, id)) ? 'struck' : 'listed';
    tally.seen += 1;
    if (round.dryRun) {
      this.count(fact, tally, round);
      return 'listed';
    }
    const told = this.news.tellAgain(fact);
    const isTold = told ? await inTime(told) : true;
    if (isTold !== true) {
      tally.failed += 1;
      return isTold === 'late' ? 'late' : 'listed';
    }
    // Another may have told it meanwhile; and some turn out to be no news.
    if ((await this.news.strike(of, id)) && told) this.count(fact, tally, round);
    return 'struck';
  }

  private async findCancel(id: string, now: number): Promise<Finding> {
    const target = await this.receipts.target(id);
    if (!target) return 'nothing';
    // First: what comes to be meanwhile has a receipt before it leaves that list.
    const isMeant = await this.isMeant(id);
    const [doneAt, receipt] = await Promise.all([this.receipts.doneAt(target), this.receipts.read(target)]);
    if (!receipt) return isMeant ? 'early' : 'nothing';
    if (doneAt === undefined || now - doneAt < UNTOLD_GRACE_MS) return 'early';
    return { event: 'owner.cancelled', ...receipt };
  }

  /** It may come to be yet. */
  private async isMeant(id: string): Promise<boolean> {
    return (await this.store.call(() => this.store.redis.zscore(this.cancels, id))) !== null;
  }

  private async findSweep(id: string, now: number): Promise<Finding> {
    const record = await this.book.find(id);
    if (!record || !this.news.isTold(record)) return 'nothing';
    const { state, ...rest } = record;
    if (now - Date.parse(rest.endedAt ?? rest.askedAt) < UNTOLD_GRACE_MS) return 'early';
    return { event: `sweep.${state}`, ...rest };
  }

  private count(fact: Lasting, tally: Tally, { dryRun }: Round): void {
    const name = 'cancelId' in fact ? fact.cancelId : fact.sweepId;
    this.healing.count('untold', `${fact.event} ${name}`, 'nobody had told other services', tally, dryRun);
  }
}

function inTime(told: Promise<boolean>): Promise<boolean | 'late'> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve('late'), TELL_MS).unref();
    told.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
