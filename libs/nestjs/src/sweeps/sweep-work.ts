import { Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { Outbox } from '../events/outbox.js';
import { Journal } from '../journal/journal.js';
import { StallGauge } from './stall-gauge.js';
import { SweepBook, withPage, type SweepRecord } from './sweep-book.js';
import { SweepSettings } from './sweep-settings.js';
import { LockLost, MooringStore, type StoreLock } from '../store/mooring-store.js';
import type { Page, Sweep } from './sweep.js';

const FIRST_LIMIT = 100;
const LEAST_LIMIT = 10;
const MOST_LIMIT = 500;
/** How long a sweep pauses after a stall that is too long, as a multiple of it. */
const REST = 5;
const LONGEST_REST_MS = 2_000;
/** A page that hangs for longer loses the lock. */
const LONGEST_PAGE_MS = 10 * 60_000;
const RENEWALS = 4;

type End = 'done' | 'tripped' | 'stopped' | 'failed';

/** Does a sweep page by page, at the pace that the store can bear, and keeps its record. A killed sweep resumes at its last saved page. */
@Injectable()
export class SweepWork {
  constructor(
    private readonly settings: SweepSettings,
    private readonly store: MooringStore,
    private readonly book: SweepBook,
    private readonly outbox: Outbox,
    private readonly journal: Journal,
  ) {}

  /** @param sweep undefined if no module of this process has one of that kind */
  async do(
    begun: SweepRecord,
    sweep: Sweep | undefined,
    lock: StoreLock,
    closing: AbortSignal,
  ): Promise<SweepRecord> {
    if (!sweep)
      return this.end(begun, lock, 'done', `No module of this process has a sweep of ${begun.sweep}.`);
    const gauge = new StallGauge(this.store);
    let record: SweepRecord = { ...begun, state: 'running' };
    try {
      await this.book.save(record, lock);
      for (let limit = FIRST_LIMIT; !closing.aborted;) {
        const beganAt = performance.now();
        gauge.take();
        const page = await this.turnPage(sweep, record, limit, lock, closing);
        const stallMs = gauge.take();
        record = withPage(record, page, performance.now() - beganAt, stallMs);
        if (page.tripped !== undefined) return await this.end(record, lock, 'tripped', page.tripped, page);
        if (page.position === null) return await this.end(record, lock, 'done', record.why, page);
        await this.book.save(record, lock, page.lines);
        limit = this.nextLimit(limit, stallMs);
        if (stallMs > this.settings.stallMs) await pause(Math.min(LONGEST_REST_MS, stallMs * REST));
      }
      return await this.end(record, lock, 'stopped', 'Its process ended.');
    } catch (error) {
      const why = (error as Error).message;
      if (error instanceof LockLost) return { ...record, state: 'stopped', why };
      return await this.end(record, lock, 'failed', why);
    } finally {
      await gauge.stop();
    }
  }

  /** Renews the lock meanwhile. */
  private async turnPage(
    sweep: Sweep,
    { sweepId, dryRun, force, position }: SweepRecord,
    limit: number,
    lock: StoreLock,
    closing: AbortSignal,
  ): Promise<Page> {
    const lost = new AbortController();
    const renew = (): void => void this.store.write([], lock).catch(() => lost.abort());
    const timer = setInterval(renew, lock.lockMs / RENEWALS).unref();
    const signal = AbortSignal.any([lost.signal, closing, AbortSignal.timeout(LONGEST_PAGE_MS)]);
    signal.addEventListener('abort', () => clearInterval(timer));
    try {
      return await sweep.sweepOnce(limit, { sweepId, dryRun, force, position, lock, signal });
    } finally {
      clearInterval(timer);
    }
  }

  /** Other services are told of a sweep that is done or tripped, also if this process dies after the save. */
  async end(
    { position, ...record }: SweepRecord,
    lock: StoreLock,
    state: End,
    why?: string,
    { lines }: Partial<Page> = {},
  ): Promise<SweepRecord> {
    const endedAt = new Date(await this.store.now()).toISOString();
    const stays = state === 'stopped' && position !== undefined && { position };
    const ended: SweepRecord = { ...record, ...stays, state, endedAt, ...(why !== undefined && { why }) };
    const fact = { ...ended, event: `sweep.${state}` } as const;
    const id = `${fact.event}:${ended.sweepId}`;
    const isForOthers = state === 'done' || state === 'tripped';
    await this.book.save(ended, lock, lines, isForOthers ? this.outbox.entry(id, fact) : []);
    if (isForOthers) await this.outbox.tell(id, fact);
    else this.journal.tell(fact);
    return ended;
  }

  /** Half as much after a page that cost too much; a little more after one that cost little. */
  private nextLimit(limit: number, stallMs: number): number {
    const most = this.settings.stallMs;
    if (stallMs > most) return Math.max(LEAST_LIMIT, Math.floor(limit / 2));
    return stallMs < most / 2 ? Math.min(MOST_LIMIT, Math.ceil(limit * 1.5)) : limit;
  }
}
