import { owner, Owners } from '#core';
import { receiptOf } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import { TRIP_STATUSES, type TripStatus } from './trip.js';
import { TripRepository } from './trip-repository.js';

/**
 * The cancels with which a trip ends its own jobs. Their ids are derived from the trip's secret, so no other
 * caller can use one first or pass off a cancel as the trip's own. An id that was used is visible in the
 * owner's history and reveals nothing about the next.
 */
@Injectable()
export class TripCancelIds {
  constructor(
    private readonly trips: TripRepository,
    private readonly owners: Owners,
  ) {}

  /** Idempotent: the same trip and status give the same cancel. */
  async carryOut(id: string, status: TripStatus, reason: string): Promise<void> {
    const cancelId = idOf(id, status, await this.trips.secret(id));
    await receiptOf(this.owners.cancel(owner('trip', id), { reason, by: 'trips', cancelId }));
  }

  async has(id: string, cancelId: string): Promise<boolean> {
    const secret = await this.trips.secret(id);
    return TRIP_STATUSES.some((status) => idOf(id, status, secret) === cancelId);
  }
}

function idOf(id: string, status: TripStatus, secret: string): string {
  return `trip-${id}-${hash('sha256', [secret, id, status].join('\0'), 'base64url')}`;
}
