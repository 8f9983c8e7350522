import { Canceller, owner } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { TRIP_STATUSES, type TripStatus } from './trip.js';
import { TripRepository } from './trips.repository.js';

/**
 * The cancels by which a trip ends its own jobs. Their ids are made with the trip's secret: nobody can use one before it is, nor
 * pass a cancel of his for one of these. One that was used is in the owner's history, and says nothing of the next.
 */
@Injectable()
export class OwnCancels {
  constructor(
    private readonly trips: TripRepository,
    private readonly canceller: Canceller,
  ) {}

  /** Again is the same cancel. */
  async carryOut(id: string, status: TripStatus, reason: string): Promise<void> {
    const cancelId = idOf(id, status, await this.trips.secret(id));
    await this.canceller.cancel(owner('trip', id), { reason, by: 'trips', cancelId });
  }

  async has(id: string, cancelId: string): Promise<boolean> {
    const secret = await this.trips.secret(id);
    return TRIP_STATUSES.some((status) => idOf(id, status, secret) === cancelId);
  }
}

function idOf(id: string, status: TripStatus, secret: string): string {
  const sealed = createHash('sha256').update([secret, id, status].join('\0')).digest('base64url');
  return `trip-${id}-${sealed}`;
}
