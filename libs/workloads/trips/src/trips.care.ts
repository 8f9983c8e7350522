import { Injectable, Logger } from '@nestjs/common';
import { TripRepository } from './trips.repository.js';
import { Trips } from './trips.service.js';

const AT_ONCE = 50;

/** Finishes what others left half-done with trips: jobs that were not sent, not ended, a timeout that was lost. */
@Injectable()
export class TripCare {
  private readonly log = new Logger('Trips');

  constructor(
    private readonly repository: TripRepository,
    private readonly trips: Trips,
  ) {}

  /** How many trips were looked at. Any number of processes may do so. */
  async tendOnce(): Promise<number> {
    const ids = await this.repository.due(AT_ONCE);
    for (const id of ids) {
      // One that cannot be tended now is due again soon, and does not keep the others waiting.
      await this.tend(id).catch((error: Error) => this.log.warn(`Trip ${id}: ${error.message}`));
    }
    return ids.length;
  }

  private async tend(id: string): Promise<void> {
    const trip = await this.repository.find(id);
    if (!trip) return this.repository.tended(id, '');
    if (trip.status !== 'PENDING') return this.trips.tidy(id, trip.status, trip.reason ?? 'accepted');

    const leftMs = Date.parse(trip.expiresAt) - (await this.repository.now());
    if (leftMs <= 0) await this.trips.expire(id);
    else if (!(await this.trips.endIfClosed(id))) await this.trips.send(trip, leftMs);
  }
}
