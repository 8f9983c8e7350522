import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { Journal } from '../journal.js';
import { Store } from '../store.js';
import { BEGINNING, type Sweep, type SweepKind } from './sweep.js';
import { SweepBook } from './sweep.book.js';
import { SweepLocks, type HeldLock } from './sweep.locks.js';
import { isOver, newRecord, type SweepOrder, type SweepRecord } from './sweep.record.js';
import { SweepWork } from './sweep.work.js';
import { Sweeps } from './sweeps.js';

/** What was asked for so long ago is not done any more. */
const ASKED_HOLDS_MS = 5 * 60_000;
const TOO_LATE = 'No janitor came to it in time. Ask for it again.';
const CUT_SHORT = 'It was forced, and cut short for too long. Ask for it again.';

/** Has sweeps done: a turn at a time of each sort, the unfinished first, and what an operator asks for. */
@Injectable()
export class Sweeper implements BeforeApplicationShutdown {
  private readonly closing = new AbortController();
  private readonly underWay = new Set<Promise<unknown>>();
  /** The sorts of which this process does what was asked for. */
  private readonly answering = new Set<SweepKind>();

  constructor(
    private readonly store: Store,
    private readonly sweeps: Sweeps,
    private readonly locks: SweepLocks,
    private readonly book: SweepBook,
    private readonly work: SweepWork,
    private readonly journal: Journal,
  ) {}

  /** What is under way stops within a page, and goes on at the next turn of whoever is left. */
  async beforeApplicationShutdown(): Promise<void> {
    this.closing.abort();
    await Promise.allSettled(this.underWay);
  }

  /** Has some janitor do a sweep; answers at once. The same that waits for a janitor already is not asked for twice. */
  async ask(kind: SweepKind, order: SweepOrder = {}): Promise<SweepRecord> {
    const record = newRecord(newSweepId(), kind, { ...order, onRequest: true }, await this.store.now());
    const waiting = await Promise.all((await this.book.asked()).map((id) => this.book.find(id)));
    const same = waiting.find((other) => other?.state === 'asked' && isSameOrder(other, record));
    if (same) return same;
    await this.book.ask(record);
    return record;
  }

  /** Begins what was asked for, one of each sort at a time; nobody waits for its end. */
  async answerAsked(): Promise<void> {
    for (const sweepId of await this.book.asked()) {
      const record = await this.book.find(sweepId);
      if (!record || isOver(record)) await this.book.forgetAsked(sweepId);
      else if (record.state === 'asked' && (await this.isTooOld(record))) await this.giveUp(record, TOO_LATE);
      else if (!this.answering.has(record.sweep) && !this.closing.signal.aborted) this.answer(record);
    }
  }

  /**
   * The same, by the clock: one that would find nothing is not begun, and leaves no record; and one that was done within `restMs`,
   * by whomever, is not done again. `held` is not to say that it is done.
   */
  async sweepIfNeeded(kind: SweepKind, restMs = 0): Promise<SweepRecord | 'nothing to do' | 'held'> {
    const hasWork = (await this.sweeps.get(kind)?.hasWork()) ?? true;
    if (!hasWork && !(await this.book.unfinished(kind))) return 'nothing to do';
    return (await this.sweep(kind, {}, restMs)) ?? 'held';
  }

  /** One whole sweep, or the rest of an unfinished one; nothing when another process is at it. */
  sweep(kind: SweepKind, order: SweepOrder | SweepRecord = {}, restMs = 0): Promise<SweepRecord | undefined> {
    const done = this.takeTurn(kind, order, restMs).finally(() => this.underWay.delete(done));
    this.underWay.add(done);
    return done;
  }

  /** Whoever asked for it has looked at things as they were then. */
  private async isTooOld({ askedAt }: SweepRecord): Promise<boolean> {
    return (await this.store.now()) - Date.parse(askedAt) > ASKED_HOLDS_MS;
  }

  private async giveUp(record: SweepRecord, why: string, lock?: HeldLock): Promise<SweepRecord> {
    const endedAt = new Date(await this.store.now()).toISOString();
    const failed: SweepRecord = { ...record, state: 'failed', why, endedAt };
    const held = lock && { token: lock.token, lockMs: this.locks.lockMs };
    await this.book.save(failed, { position: null, ...held });
    return failed;
  }

  private answer(record: SweepRecord): void {
    this.answering.add(record.sweep);
    this.sweep(record.sweep, record)
      .catch((error: unknown) => this.journal.sweepTrouble(record.sweep, record.sweepId, error))
      .finally(() => this.answering.delete(record.sweep));
  }

  private async takeTurn(
    kind: SweepKind,
    order: SweepOrder | SweepRecord,
    restMs: number,
  ): Promise<SweepRecord | undefined> {
    const lock = await this.locks.take(kind);
    if (!lock) return undefined;
    try {
      if ('sweepId' in order) return await this.beginAsked(order, lock);
      const now = await this.store.now();
      // Only who has the lock sees what whoever had it at the same turn has done.
      const recent = restMs > 0 ? await this.doneSince(kind, now - restMs) : undefined;
      if (recent) return recent;
      const fresh = newRecord(newSweepId(), kind, order, now);
      return await this.resumeOrBegin(fresh, lock, false);
    } finally {
      await lock.give().catch((error: unknown) => this.journal.sweepTrouble(kind, 'its lock', error));
    }
  }

  /** Nothing when one was left unfinished: that goes on. */
  private async doneSince(kind: SweepKind, sinceMs: number): Promise<SweepRecord | undefined> {
    if (await this.book.unfinished(kind)) return undefined;
    return (await this.book.newestOf(kind)).find(
      ({ state, dryRun, endedAt = '' }) =>
        (state === 'done' || state === 'tripped') && !dryRun && Date.parse(endedAt) > sinceMs,
    );
  }

  /** Before the lock was this process's another may have done it, or died over it. */
  private async beginAsked(order: SweepRecord, lock: HeldLock): Promise<SweepRecord> {
    const asked = (await this.book.find(order.sweepId)) ?? order;
    if (isOver(asked)) return asked;
    if (await this.isOutdated(asked)) return this.giveUp(asked, CUT_SHORT, lock);
    return this.resumeOrBegin(asked, lock, true);
  }

  /** Forced, and cut short for longer than what was seen then holds. */
  private async isOutdated(record: SweepRecord): Promise<boolean> {
    const { state, force, dryRun } = record;
    return force && !dryRun && state !== 'asked' && this.isTooOld(record);
  }

  /** One that was left unfinished goes first. A forced one begins anew, and so does a dry run, which nobody goes on with. */
  private async resumeOrBegin(fresh: SweepRecord, lock: HeldLock, isAwaited: boolean): Promise<SweepRecord> {
    const left = fresh.dryRun || fresh.force ? undefined : await this.book.unfinished(fresh.sweep);
    const before = left && (await this.book.find(left.sweepId));
    if (!left || !before || isOver(before)) return this.begin(fresh, lock);
    if (await this.isOutdated(before)) {
      await this.giveUp(before, CUT_SHORT, lock);
      return this.begin(fresh, lock);
    }
    const rest = await this.goOn(before, left.position, lock);
    const isAnother = fresh.sweepId !== left.sweepId;
    return isAwaited && isAnother && isOver(rest) ? this.begin(fresh, lock) : rest;
  }

  /** Whatever was written of it before: it was cut short, and is not gone on with. */
  private async begin(record: SweepRecord, lock: HeldLock): Promise<SweepRecord> {
    const { sweepId, sweep, askedAt } = record;
    await this.book.forgetLines(sweepId);
    return this.goOn(newRecord(sweepId, sweep, record, Date.parse(askedAt)), BEGINNING, lock);
  }

  private goOn(begun: SweepRecord, position: string, lock: HeldLock): Promise<SweepRecord> {
    const sweep = this.sweeps.get(begun.sweep) ?? nobodys(begun.sweep);
    const { why: _, ...record } = begun;
    return this.work.do(sweep, record, position, lock, this.closing.signal);
  }
}

/** Of a sort that no module of this process has: there is nothing to do, and it is said. */
function nobodys(kind: SweepKind): Pick<Sweep, 'kind' | 'sweepOnce'> {
  const why = `No workload of this janitor has ${kind}.`;
  return { kind, sweepOnce: () => Promise.resolve({ position: null, why }) };
}

function isSameOrder(a: SweepRecord, b: SweepRecord): boolean {
  return a.sweep === b.sweep && a.dryRun === b.dryRun && a.force === b.force;
}

function newSweepId(): string {
  return `sweep-${randomBytes(9).toString('base64url')}`;
}
