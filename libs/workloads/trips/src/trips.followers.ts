import { Journal, parseOwner, type Fact } from '#lifecycle';
import { Injectable, Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { OwnCancels } from './own.cancels.js';
import { isTripId } from './trip.js';
import { TripOverError, UnknownTripError } from './trips.errors.js';
import { Trips } from './trips.service.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * A trip whose owner is cancelled by others, through the api or an event of another service, is cancelled itself: as soon as the
 * owner is, however long its jobs take to go, or as soon as another process takes the cancel up from one that died; and once more
 * when its jobs are gone, in whichever process that is. Should nobody live to hear of it, nobody is asked any more, who accepts
 * finds its owner closed, and so does the care. A driver whose owner is closed goes offline, likewise.
 */
@Injectable()
export class TripFollowers implements OnModuleInit, BeforeApplicationShutdown {
  private readonly log = new Logger('Trips');
  private readonly underWay = new Set<Promise<void>>();
  private readonly closing = new AbortController();

  constructor(
    private readonly journal: Journal,
    private readonly trips: Trips,
    private readonly ownCancels: OwnCancels,
  ) {}

  onModuleInit(): void {
    this.journal.listen((fact) => this.follow(fact));
  }

  /** Each is tried once more, and no longer. */
  async beforeApplicationShutdown(): Promise<void> {
    this.closing.abort();
    await Promise.all(this.underWay);
  }

  private follow(fact: Fact): void {
    if (fact.event !== 'owner.cancelling' && fact.event !== 'owner.cancelled') return;
    if (fact.job !== undefined) return;
    // To the sweep a trip that was accepted is gone, because it needs its jobs no more.
    if (fact.why === 'orphan') return;
    const { type, id } = parseOwner(fact.owner);
    if (type === 'trip' && isTripId(id))
      this.begin(`Trip ${id} is not cancelled`, () => this.cancel(id, fact));
    if (type === 'driver') this.begin(`Driver ${id} is not offline`, () => this.trips.leaveIfClosed(id));
  }

  private begin(failure: string, work: () => Promise<void>): void {
    const done = this.untilDone(failure, work).finally(() => this.underWay.delete(done));
    this.underWay.add(done);
  }

  private async cancel(
    id: string,
    { cancelId, reason }: { readonly cancelId: string; readonly reason: string },
  ): Promise<void> {
    try {
      if (!(await this.ownCancels.has(id, cancelId))) await this.trips.cancel(id, reason);
    } catch (error) {
      if (!(error instanceof UnknownTripError || error instanceof TripOverError)) throw error;
    }
  }

  private async untilDone(failure: string, work: () => Promise<void>): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      const isLast = this.closing.signal.aborted;
      try {
        return await work();
      } catch (error) {
        if (isLast) return this.log.warn(`${failure}: ${(error as Error).message}`);
      }
      await pause(pauseMs, undefined, { signal: this.closing.signal, ref: false }).catch(isClosing);
    }
  }
}

function isClosing(): void {
  // The loop tries once more, and says so if that fails too.
}
