import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Journal } from '../journal.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Store } from '../store.js';
import { StallGauge } from './stall.gauge.js';
import type { Page, Sweep, SweepKind } from './sweep.js';
import { SweepBook } from './sweep.book.js';
import { SweepLocks, type HeldLock } from './sweep.lock.js';
import {
  isOver,
  newRecord,
  withPage,
  type SweepOrder,
  type SweepRecord,
  type SweepState,
} from './sweep.record.js';
import { Sweeps } from './sweeps.js';

const FIRST_LIMIT = 100;
const LEAST_LIMIT = 10;
const MOST_LIMIT = 500;
/** How long a sweep rests after a page that cost the store too much, as a multiple of the stall it caused. */
const REST = 5;
const LONGEST_REST_MS = 2_000;
/** Where a sweep is before its first page. */
const BEGINNING = 'begin';

/** A sweep that this process is at. */
interface Going {
  readonly sweep: Sweep;
  readonly lock: HeldLock;
  /** Aborts when the lock is lost or the process ends. */
  readonly signal: AbortSignal;
  record: SweepRecord;
  position: string | null;
}

/** The plot of a sweep: its turn, page by page at the pace the store can bear, and what is written of it. */
@Injectable()
export class Sweeper implements BeforeApplicationShutdown {
  private readonly closing = new AbortController();
  private readonly stallMs: number;
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
    private readonly sweeps: Sweeps,
    private readonly locks: SweepLocks,
    private readonly book: SweepBook,
    private readonly journal: Journal,
  ) {
    this.stallMs = options.sweeps?.stallMs ?? LIFECYCLE_DEFAULTS.sweepStallMs;
  }

  /** What is under way stops within a page, and goes on at the next turn of whoever is left. */
  async beforeApplicationShutdown(): Promise<void> {
    this.closing.abort();
    await Promise.allSettled(this.underWay);
  }

  /** Has some janitor do a sweep; answers at once. */
  async ask(kind: SweepKind, order: SweepOrder = {}): Promise<SweepRecord> {
    const record = newRecord(newSweepId(), kind, order, await this.store.now());
    await this.book.ask(record);
    return record;
  }

  /** Does what was asked for. */
  async answerAsked(): Promise<void> {
    for (const sweepId of await this.book.asked()) {
      if (this.closing.signal.aborted) return;
      const record = await this.book.find(sweepId);
      if (!record || isOver(record)) await this.book.forgetAsked(sweepId);
      else await this.sweep(record.sweep, record);
    }
  }

  /** One whole sweep, or the rest of an unfinished one; nothing when another process is at it. */
  sweep(kind: SweepKind, order: SweepOrder | SweepRecord = {}): Promise<SweepRecord | undefined> {
    const done = this.takeTurn(kind, order).finally(() => this.underWay.delete(done));
    this.underWay.add(done);
    return done;
  }

  private async takeTurn(kind: SweepKind, order: SweepOrder | SweepRecord): Promise<SweepRecord | undefined> {
    const lock = await this.locks.take(kind);
    if (!lock) return undefined;
    try {
      if ('sweepId' in order) return await this.resumeOrBegin(order, lock, true);
      const fresh = newRecord(newSweepId(), kind, order, await this.store.now());
      return await this.resumeOrBegin(fresh, lock, false);
    } finally {
      await lock.give().catch((error: unknown) => this.journal.queueError('sweeps', error));
    }
  }

  /** One that was left unfinished goes first. A forced one begins anew, and so does a dry run, which nobody goes on with. */
  private async resumeOrBegin(fresh: SweepRecord, lock: HeldLock, isAwaited: boolean): Promise<SweepRecord> {
    const left = fresh.dryRun || fresh.force ? undefined : await this.book.unfinished(fresh.sweep);
    const before = left && (await this.book.find(left.sweepId));
    if (!left || !before || isOver(before)) return this.work(fresh, BEGINNING, lock);
    const rest = await this.work(before, left.position, lock);
    const isAnother = fresh.sweepId !== left.sweepId;
    return isAwaited && isAnother && isOver(rest) ? this.work(fresh, BEGINNING, lock) : rest;
  }

  private async work(begun: SweepRecord, position: string, lock: HeldLock): Promise<SweepRecord> {
    const sweep = this.sweeps.get(begun.sweep);
    const { why: _, ...record } = begun;
    if (!sweep) {
      const why = `No workload of this janitor has ${begun.sweep}.`;
      return this.write({ record: { ...record, why }, position: null, lock }, 'done');
    }
    const signal = AbortSignal.any([lock.signal, this.closing.signal]);
    const going: Going = { sweep, lock, signal, record: { ...record, state: 'running' }, position };
    const gauge = new StallGauge(this.store.redis);
    try {
      await this.book.save(going.record, { position, token: lock.token, lockMs: this.locks.lockMs });
      return await this.goThrough(going, gauge);
    } finally {
      await gauge.stop();
    }
  }

  private async goThrough(going: Going, gauge: StallGauge): Promise<SweepRecord> {
    const { lock, signal } = going;
    for (let limit = FIRST_LIMIT; !signal.aborted;) {
      const beganAt = performance.now();
      gauge.take();
      let page: Page;
      try {
        page = await this.turnPage(going, limit);
      } catch (error) {
        going.record = { ...going.record, why: (error as Error).message };
        going.position = null;
        return this.write(going, 'failed');
      }
      const stallMs = gauge.take();
      going.record = withPage(going.record, page, performance.now() - beganAt, stallMs);
      going.position = page.position;
      if (page.tripped !== undefined) return this.trip(going, page);
      if (page.position === null) return this.write(going, 'done', page);
      const { position } = page;
      const at = { position, token: lock.token, lockMs: this.locks.lockMs, lines: page.lines ?? [] };
      if (!(await this.book.save(going.record, at))) break;
      limit = nextLimit(limit, stallMs, this.stallMs);
      if (stallMs > this.stallMs)
        await pause(Math.min(LONGEST_REST_MS, stallMs * REST), undefined, { signal }).catch(ignore);
    }
    const why = this.closing.signal.aborted ? 'Its process ended.' : 'Another process took it over.';
    going.record = { ...going.record, why };
    return this.write(going, 'stopped');
  }

  private turnPage({ sweep, lock, signal, record, position }: Going, limit: number): Promise<Page> {
    const { sweepId, dryRun, force } = record;
    const at = position === null || position === BEGINNING ? undefined : position;
    return sweep.sweepOnce(limit, { sweepId, dryRun, force, position: at, fence: lock.fence, signal });
  }

  private trip(going: Going, page: Page): Promise<SweepRecord> {
    going.record = { ...going.record, why: page.tripped! };
    going.position = null;
    return this.write(going, 'tripped', page);
  }

  /** The last that is written of it; not by who was overtaken: it is another's now. */
  private async write(
    { record, position, lock }: Pick<Going, 'record' | 'position' | 'lock'>,
    state: SweepState,
    { lines = [] }: Partial<Page> = {},
  ): Promise<SweepRecord> {
    const ended = { ...record, state, endedAt: new Date(await this.store.now()).toISOString() };
    const at = { position, token: lock.token, lockMs: this.locks.lockMs, lines };
    if (await this.book.save(ended, at)) this.journal.sweepEnded(ended);
    return ended;
  }
}

/** Half as much after a page that cost too much; a little more after one that cost little. */
function nextLimit(limit: number, stallMs: number, budgetMs: number): number {
  if (stallMs > budgetMs) return Math.max(LEAST_LIMIT, Math.floor(limit / 2));
  return stallMs < budgetMs / 2 ? Math.min(MOST_LIMIT, Math.ceil(limit * 1.5)) : limit;
}

function newSweepId(): string {
  return `sweep-${randomBytes(9).toString('base64url')}`;
}

function ignore(): void {}
