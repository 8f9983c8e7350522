import { Injectable } from '@nestjs/common';
import { Outbox } from '../events/outbox.js';
import { Journal } from '../journal/journal.js';
import { Pace } from './pace.js';
import { StallGauge } from './stall-gauge.js';
import { SweepBook, withPage, type SweepRecord } from './sweep-book.js';
import { SweepSettings } from './sweep-settings.js';
import { LockLost, MooringStore, type StoreLock } from '../store/mooring-store.js';
import { whileLocked } from './while-locked.js';
import type { Page, Sweep } from './sweep.js';

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
      const pace = new Pace(this.settings.stallMs);
      while (!closing.aborted) {
        const beganAt = performance.now();
        gauge.take();
        const { sweepId, dryRun, force, position } = record;
        const page = await whileLocked(this.store, lock, closing, (signal) =>
          sweep.sweepOnce(pace.limit, { sweepId, dryRun, force, position, lock, signal }),
        );
        const stallMs = gauge.take();
        record = withPage(record, page, performance.now() - beganAt, stallMs);
        if (page.tripped !== undefined) return await this.end(record, lock, 'tripped', page.tripped, page);
        if (page.position === null) return await this.end(record, lock, 'done', record.why, page);
        await this.book.save(record, lock, page.lines);
        await pace.afterPage(stallMs);
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
}
