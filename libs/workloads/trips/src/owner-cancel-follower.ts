import { Journal, parseOwner, type Fact } from '#lifecycle';
import { Injectable, Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { TripCancelIds } from './trip-cancel-ids.js';
import { isTripId } from './trip.js';
import { TripOverError, UnknownTripError } from './trip-errors.js';
import { Trips } from './trips.service.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Cancels a trip when another caller cancels its owner, through the api or an event of another service. It
 * acts on `owner.cancelling`, so the trip does not wait for its jobs to be removed, and once more on
 * `owner.cancelled`. Both events are repeated by a process that resumes a cancel after a crash. If every
 * process that heard an event died, `accept` and the reconciler still find the owner closed. A driver whose
 * owner is closed goes offline in the same way.
 */
@Injectable()
export class OwnerCancelFollower implements OnModuleInit, BeforeApplicationShutdown {
  private readonly log = new Logger('Trips');
  private readonly underWay = new Set<Promise<void>>();
  private readonly closing = new AbortController();

  constructor(
    private readonly journal: Journal,
    private readonly trips: Trips,
    private readonly cancelIds: TripCancelIds,
  ) {}

  onModuleInit(): void {
    this.journal.listen((fact) => this.follow(fact));
  }

  /** Each pending cancel is tried once more. */
  async beforeApplicationShutdown(): Promise<void> {
    this.closing.abort();
    await Promise.all(this.underWay);
  }

  private follow(fact: Fact): void {
    if (fact.event !== 'owner.cancelling' && fact.event !== 'owner.cancelled') return;
    if (fact.job !== undefined) return;
    // The orphan sweep also cancels the owner of an accepted trip, because such a trip needs its jobs no
    // longer.
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
      if (!(await this.cancelIds.has(id, cancelId))) await this.trips.cancel(id, reason);
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
  // The loop tries once more and logs a failure.
}
