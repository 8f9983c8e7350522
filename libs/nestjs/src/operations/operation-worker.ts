import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { meansUnavailable } from '../errors.js';
import { Journal } from '../journal/journal.js';
import { LockLost, MooringStore, type StoreLock } from '../store/mooring-store.js';
import { Pace } from '../sweeps/pace.js';
import { StallGauge } from '../sweeps/stall-gauge.js';
import { SweepSettings } from '../sweeps/sweep-settings.js';
import { SweepTimer } from '../sweeps/sweep-timer.js';
import { whileLocked } from '../sweeps/while-locked.js';
import { OperationBook } from './operation-book.js';
import { OperationPages } from './operation-pages.js';

/** The lock under which one process at a time works at operations. */
export const OPERATIONS_LOCK = 'operations';
/** How long an operation waits for a process that sweeps, at most. */
const LOOKS_EVERY_MS = 500;
const STOPS_WITHIN_MS = 5_000;

/** Works at the operations that are not over, a page of each in turn, in one process at a time. Any process that sweeps may do it. */
@Injectable()
export class OperationWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly closing = new AbortController();
  private timer: SweepTimer | undefined;
  private underWay: Promise<void> | undefined;

  constructor(
    private readonly settings: SweepSettings,
    private readonly store: MooringStore,
    private readonly book: OperationBook,
    private readonly pages: OperationPages,
    private readonly journal: Journal,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.settings.hasTimers) return;
    const look = (): Promise<void> => this.begin();
    this.timer = new SweepTimer('The work at operations', LOOKS_EVERY_MS, look, new Logger('Mooring'));
    this.timer.start();
  }

  /** The work stops after the job that it is at, and another process continues it. */
  async beforeApplicationShutdown(): Promise<void> {
    this.closing.abort();
    await this.timer?.stop();
    await Promise.race([this.underWay, pause(STOPS_WITHIN_MS, undefined, { ref: false })]);
  }

  /** Begins the work if there is some, and does not wait for its end. */
  async begin(): Promise<void> {
    if (this.underWay || (await this.book.openIds()).length === 0) return;
    this.work().catch((error: unknown) => this.journal.trouble('The work at operations', error));
  }

  /** Works until no operation is open. Another process may be at it: then it does nothing. */
  work(): Promise<void> {
    this.underWay ??= this.workLocked().finally(() => (this.underWay = undefined));
    return this.underWay;
  }

  private async workLocked(): Promise<void> {
    const lock = await this.store.take(OPERATIONS_LOCK, this.settings.lockMs);
    if (!lock) return;
    const gauge = new StallGauge(this.store);
    const pace = new Pace(this.settings.stallMs);
    try {
      for (let ids = await this.book.openIds(); ids.length > 0; ids = await this.book.openIds())
        for (const id of ids) {
          if (this.closing.signal.aborted) return;
          gauge.take();
          await this.turn(id, pace.limit, lock);
          await pace.afterPage(gauge.take());
        }
    } catch (error) {
      if (!(error instanceof LockLost)) throw error;
    } finally {
      await gauge.stop();
      // A lock that is not given back expires.
      await this.store.write([], { ...lock, lockMs: 0 }).catch(() => undefined);
    }
  }

  /** While the store is away the operation stays open. Any other error ends it: it would come again. */
  private async turn(id: string, limit: number, lock: StoreLock): Promise<void> {
    const known = await this.book.find(id);
    if (!known) return this.book.forget(id);
    try {
      await whileLocked(this.store, lock, this.closing.signal, (signal) =>
        this.pages.turn(known, limit, lock, signal),
      );
    } catch (error) {
      if (error instanceof LockLost || meansUnavailable(error)) throw error;
      await this.pages.end(known.record, 'failed', (error as Error).message, lock);
    }
  }
}
