import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Journal } from '../journal/journal.js';
import { MooringSetupError } from '../setup-error.js';
import { MooringStore, type StoreLock } from '../store/mooring-store.js';
import { newRecord, SweepBook, type SweepOrder, type SweepRecord } from './sweep-book.js';
import { SweepSettings } from './sweep-settings.js';
import { SweepWork } from './sweep-work.js';
import { Sweep } from './sweep.js';

/** After this time a request is void, and so is a forced sweep: its operator looked at things as they were then. */
const REQUEST_HOLDS_MS = 5 * 60_000;
const STOPS_WITHIN_MS = 5_000;
const VOID =
  'No janitor came to it in time, or it was forced and interrupted for too long. Ask for it again.';

/** Begins sweeps, one of each kind at a time and an unfinished one first. Any process may ask for one; a janitor does it. */
@Injectable()
export class Sweeper implements OnModuleInit, BeforeApplicationShutdown {
  private readonly sweeps = new Map<string, Sweep>();
  private readonly closing = new AbortController();
  private readonly underWay = new Set<Promise<unknown>>();
  private stopped: Promise<unknown> | undefined;

  constructor(
    private readonly settings: SweepSettings,
    private readonly store: MooringStore,
    private readonly discovery: DiscoveryService,
    private readonly book: SweepBook,
    private readonly work: SweepWork,
    private readonly journal: Journal,
  ) {}

  /** The sweeps are all providers of this process that extend `Sweep`. */
  onModuleInit(): void {
    const found = new Set(this.discovery.getProviders().map(({ instance }) => instance as unknown));
    for (const sweep of [...found].filter((each) => each instanceof Sweep)) {
      if (this.sweeps.has(sweep.kind))
        throw new MooringSetupError(`Two sweeps are named "${sweep.kind}". Rename or leave out one of them.`);
      this.sweeps.set(sweep.kind, sweep);
    }
  }

  kinds(): readonly string[] {
    return [...this.sweeps.keys()];
  }

  /** Sweeps stop after their page, and another process resumes them. While the store is away a page does not end: it is waited for once. */
  async beforeApplicationShutdown(): Promise<void> {
    this.closing.abort();
    const ended = Promise.allSettled(this.underWay);
    this.stopped ??= Promise.race([ended, pause(STOPS_WITHIN_MS, undefined, { ref: false })]);
    await this.stopped;
  }

  /** Requests a sweep and answers at once. An equal request that still waits for a janitor is answered instead. */
  async ask(kind: string, order: SweepOrder = {}): Promise<SweepRecord> {
    const record = await this.newRecord(kind, { ...order, onRequest: true });
    const { dryRun, force } = record;
    const waiting = (await this.book.open(kind)).filter(({ state }) => state === 'asked');
    const same = waiting.find((other) => other.dryRun === dryRun && other.force === force);
    if (!same) await this.book.save(record);
    return same ?? record;
  }

  /** Begins what was requested or left unfinished, and does not wait for its end. */
  async answerAsked(): Promise<void> {
    for (const kind of new Set((await this.book.open()).map(({ sweep }) => sweep)))
      this.locked(kind, (lock) => this.doOpen(kind, lock)).catch((error: Error) =>
        this.journal.trouble(`The sweep of ${kind}`, error),
      );
  }

  /** A scheduled sweep. One without work is not begun, and one that any process has finished within `restMs` is not repeated. */
  async sweepIfNeeded(kind: string, restMs = 0): Promise<SweepRecord | 'nothing to do' | 'held'> {
    const hasWork = (await this.sweeps.get(kind)?.hasWork()) ?? true;
    if (!hasWork && (await this.book.open(kind)).length === 0) return 'nothing to do';
    const done = await this.locked(kind, async (lock) => {
      const isUnfinished = (await this.book.open(kind)).length > 0;
      // Read under the lock: otherwise the sweep of another process could end in between.
      const recent = restMs > 0 && !isUnfinished ? await this.doneWithin(kind, restMs) : undefined;
      if (recent) return recent;
      if (!isUnfinished) await this.book.save(await this.newRecord(kind, {}), lock);
      return this.doOpen(kind, lock);
    });
    return done ?? 'held';
  }

  /** A whole sweep, after those of its kind that are unfinished; undefined if another process does one. */
  async sweep(kind: string, order: SweepOrder = {}): Promise<SweepRecord | undefined> {
    return this.locked(kind, async (lock) => {
      await this.book.save(await this.newRecord(kind, order), lock);
      return this.doOpen(kind, lock);
    });
  }

  /** The oldest first. Answers the last that was done. */
  private async doOpen(kind: string, lock: StoreLock): Promise<SweepRecord | undefined> {
    let done: SweepRecord | undefined;
    for (const record of await this.book.open(kind)) {
      if (this.closing.signal.aborted || done?.state === 'stopped') break;
      const isVoid =
        (await this.store.now()) - Date.parse(record.askedAt) > REQUEST_HOLDS_MS && isUrgent(record);
      done = isVoid
        ? await this.work.end(record, lock, 'failed', VOID)
        : await this.work.do(record, this.sweeps.get(kind), lock, this.closing.signal);
    }
    return done;
  }

  private async doneWithin(kind: string, restMs: number): Promise<SweepRecord | undefined> {
    const since = (await this.store.now()) - restMs;
    return (await this.book.newestOf(kind)).find(
      ({ state, dryRun, endedAt = '' }) =>
        (state === 'done' || state === 'tripped') && !dryRun && Date.parse(endedAt) > since,
    );
  }

  private locked<T>(kind: string, work: (lock: StoreLock) => Promise<T>): Promise<T | undefined> {
    const done = this.whileLocked(kind, work).finally(() => this.underWay.delete(done));
    this.underWay.add(done);
    return done;
  }

  private async whileLocked<T>(kind: string, work: (lock: StoreLock) => Promise<T>): Promise<T | undefined> {
    const lock = await this.store.take(kind, this.settings.lockMs);
    if (!lock || this.closing.signal.aborted) return undefined;
    try {
      return await work(lock);
    } finally {
      // A lock that is not given back expires.
      await this.store.write([], { ...lock, lockMs: 0 }).catch(() => undefined);
    }
  }

  private async newRecord(kind: string, order: SweepOrder): Promise<SweepRecord> {
    return newRecord(`sweep-${randomBytes(9).toString('base64url')}`, kind, order, await this.store.now());
  }
}

function isUrgent({ state, onRequest, force, dryRun }: SweepRecord): boolean {
  return (state === 'asked' && onRequest === true) || (force && !dryRun);
}
