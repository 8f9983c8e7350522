import { Reconciler, Semaphore } from '#workload-kit';
import { Injectable } from '@nestjs/common';
import { TripRepository } from './trip-repository.js';
import { Trips } from './trips.service.js';

const AT_ONCE = 200;
/** Pages per call, so that drivers get their turn under a long backlog. */
const MOST_PAGES = 10;
/** Concurrent trips: each calls the store several times, and other callers need it too. */
const CONCURRENT_TRIPS = 50;

/**
 * Finishes what a crashed process left half-done: jobs not sent or not removed, a lost or late timeout, a
 * cancelled owner whose event was lost, and the requests of a driver who went offline.
 */
@Injectable()
export class TripReconciler extends Reconciler {
  private readonly semaphore = new Semaphore(CONCURRENT_TRIPS);

  constructor(
    private readonly repository: TripRepository,
    private readonly trips: Trips,
  ) {
    super('Trips');
  }

  /** Returns the number of trips and drivers checked. Any number of processes may call this concurrently. */
  async reconcileOnce(): Promise<number> {
    let looked = 0;
    for (let round = 0; round < MOST_PAGES; round += 1) {
      const due = await this.repository.due(AT_ONCE);
      looked += due.length;
      const idsOf = (what: 'tend' | 'watch'): string[] =>
        due.filter((one) => one.what === what).map(({ id }) => id);
      const watched = idsOf('watch');
      await this.concurrently(idsOf('tend'), this.semaphore, (id) => this.reconcile(id));
      if (watched.length > 0) await this.inTurn([watched], (ids) => this.trips.endClosed(ids));
      if (due.length < AT_ONCE) break;
    }
    const away = await this.repository.away(AT_ONCE);
    await this.concurrently(away, this.semaphore, (driver) => this.trips.takeBack(driver));
    return looked + away.length;
  }

  private async reconcile(id: string): Promise<void> {
    const trip = await this.repository.find(id);
    if (!trip) return this.repository.markChecked(id, '');
    if (trip.status !== 'PENDING') return this.trips.tidy(id, trip.status, trip.reason ?? 'accepted');

    const leftMs = Date.parse(trip.expiresAt) - (await this.repository.now());
    if (leftMs <= 0) await this.trips.expire(id);
    else if (!(await this.trips.endIfClosed(id))) await this.trips.send(trip, leftMs);
  }
}
