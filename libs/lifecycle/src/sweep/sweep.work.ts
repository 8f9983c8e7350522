import { Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { News } from '../news/news.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Store } from '../store.js';
import { StallGauge } from './stall.gauge.js';
import { BEGINNING, SweepOvertaken, type Page, type Sweep } from './sweep.js';
import { SweepBook } from './sweep.book.js';
import { SweepLocks, type HeldLock } from './sweep.locks.js';
import { withPage, type SweepRecord, type SweepState } from './sweep.record.js';

const FIRST_LIMIT = 100;
const LEAST_LIMIT = 10;
const MOST_LIMIT = 500;
/** How long a sweep rests after a page that cost the store too much, as a multiple of the stall it caused. */
const REST = 5;
const LONGEST_REST_MS = 2_000;

/** A sweep that this process is at. */
interface Going {
  readonly sweep: Pick<Sweep, 'sweepOnce'>;
  readonly lock: HeldLock;
  /** Aborts when the lock is lost or the process ends. */
  readonly signal: AbortSignal;
  record: SweepRecord;
  position: string | null;
}

/** One sweep, page by page at the pace the store can bear, and what is written of it. */
@Injectable()
export class SweepWork {
  private readonly stallMs: number;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
    private readonly locks: SweepLocks,
    private readonly book: SweepBook,
    private readonly news: News,
  ) {
    this.stallMs = options.sweeps?.stallMs ?? LIFECYCLE_DEFAULTS.sweepStallMs;
  }

  async do(
    sweep: Pick<Sweep, 'sweepOnce'>,
    record: SweepRecord,
    position: string,
    lock: HeldLock,
    closing: AbortSignal,
  ): Promise<SweepRecord> {
    const signal = AbortSignal.any([lock.signal, closing]);
    const going: Going = { sweep, lock, signal, record: { ...record, state: 'running' }, position };
    const gauge = new StallGauge(this.store.redis);
    try {
      const isOurs = await this.save(going);
      if (isOurs) await this.goThrough(going, gauge);
      if (going.record.state !== 'running') return going.record;
      return await this.end(going, 'stopped', closing.aborted ? 'Its process ended.' : TAKEN_OVER);
    } finally {
      await gauge.stop();
    }
  }

  /** To its end; or as far as it is this process's to do. */
  private async goThrough(going: Going, gauge: StallGauge): Promise<void> {
    for (let limit = FIRST_LIMIT; !going.signal.aborted;) {
      const beganAt = performance.now();
      gauge.take();
      let page: Page;
      try {
        page = await this.turnPage(going, limit);
      } catch (error) {
        if (error instanceof SweepOvertaken) return;
        going.position = null;
        return void (await this.end(going, 'failed', (error as Error).message));
      }
      const stallMs = gauge.take();
      going.record = withPage(going.record, page, performance.now() - beganAt, stallMs);
      going.position = page.position;
      if (page.tripped !== undefined) {
        going.position = null;
        return void (await this.end(going, 'tripped', page.tripped, page));
      }
      if (page.position === null) return void (await this.end(going, 'done', going.record.why, page));
      if (!(await this.save(going, page))) return;
      limit = nextLimit(limit, stallMs, this.stallMs);
      await this.rest(going, stallMs);
    }
  }

  private async turnPage({ sweep, lock, signal, record, position }: Going, limit: number): Promise<Page> {
    const { sweepId, dryRun, force } = record;
    const at = position === null || position === BEGINNING ? undefined : position;
    const { fence } = lock;
    lock.beat();
    const page = await sweep.sweepOnce(limit, { sweepId, dryRun, force, position: at, fence, signal });
    if (page.position === '')
      throw new TypeError('A page that is not the last says where the next one begins.');
    return page;
  }

  private async rest({ signal }: Going, stallMs: number): Promise<void> {
    if (stallMs > this.stallMs)
      await pause(Math.min(LONGEST_REST_MS, stallMs * REST), undefined, { signal }).catch(stopped);
  }

  /** The last that is written of it; not by who was overtaken: it is another's now. */
  private async end(
    going: Going,
    state: SweepState,
    why: string | undefined,
    page: Partial<Page> = {},
  ): Promise<SweepRecord> {
    const endedAt = new Date(await this.store.now()).toISOString();
    going.record = { ...going.record, state, endedAt, ...(why !== undefined && { why }) };
    if (await this.save(going, page, this.news.isTold(going.record))) this.news.sweepEnded(going.record);
    return going.record;
  }

  private save(
    { record, position, lock }: Going,
    { lines = [] }: Partial<Page> = {},
    isNews = false,
  ): Promise<boolean> {
    const { lockMs } = this.locks;
    return this.book.save(record, { position, token: lock.token, lockMs, lines, isNews });
  }
}

const TAKEN_OVER = 'Another process took it over.';

/** Half as much after a page that cost too much; a little more after one that cost little. */
function nextLimit(limit: number, stallMs: number, budgetMs: number): number {
  if (stallMs > budgetMs) return Math.max(LEAST_LIMIT, Math.floor(limit / 2));
  return stallMs < budgetMs / 2 ? Math.min(MOST_LIMIT, Math.ceil(limit * 1.5)) : limit;
}

function stopped(): void {
  // The next look at the signal says so.
}
