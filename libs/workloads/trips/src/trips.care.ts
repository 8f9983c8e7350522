import { Turns } from '#lifecycle';
import { Injectable, Logger } from '@nestjs/common';
import { TripRepository } from './trips.repository.js';
import { Trips } from './trips.service.js';

const AT_ONCE = 200;
/** So often in a row, before the others have their turn. */
const MOST_ROUNDS = 10;
/** So many trips at once: each asks the store several times, and others want an answer too. */
const TENDED_AT_ONCE = 50;

/**
 * Finishes what others left half-done with trips: jobs that were not sent, not ended, a timeout that was lost or is late, a
 * cancelled owner that nobody heard of, requests of a driver who went.
 */
@Injectable()
export class TripCare {
  private readonly log = new Logger('Trips');
  private readonly turns = new Turns(TENDED_AT_ONCE);

  constructor(
    private readonly repository: TripRepository,
    private readonly trips: Trips,
  ) {}

  /** How many trips and drivers were looked at. Any number of processes may do so. */
  async tendOnce(): Promise<number> {
    let looked = 0;
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const due = await this.repository.due(AT_ONCE);
      looked += due.length;
      const idsOf = (what: 'tend' | 'watch'): string[] =>
        due.filter((one) => one.what === what).map(({ id }) => id);
      const watched = idsOf('watch');
      await this.each(idsOf('tend'), (id) => this.tend(id));
      if (watched.length > 0) await this.trips.endClosed(watched).catch((error: Error) => this.warn(error));
      if (due.length < AT_ONCE) break;
    }
    const away = await this.repository.away(AT_ONCE);
    await this.each(away, (driver) => this.trips.takeBack(driver));
    return looked + away.length;
  }

  private async tend(id: string): Promise<void> {
    const trip = await this.repository.find(id);
    if (!trip) return this.repository.tended(id, '');
    if (trip.status !== 'PENDING') return this.trips.tidy(id, trip.status, trip.reason ?? 'accepted');

    const leftMs = Date.parse(trip.expiresAt) - (await this.repository.now());
    if (leftMs <= 0) await this.trips.expire(id);
    else if (!(await this.trips.endIfClosed(id))) await this.trips.send(trip, leftMs);
  }

  /** One that cannot be tended now is due again soon, and does not keep the others waiting. */
  private async each<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
    await Promise.all(
      all.map((one) => this.turns.take(() => work(one)).catch((error: Error) => this.warn(error))),
    );
  }

  private warn(error: Error): void {
    this.log.warn(`Left to the next look: ${error.message}`);
  }
}
