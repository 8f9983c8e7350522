import { parseOwner } from '#core';
import { Journal, viewOfReceipt } from '#nestjs';
import { isUuid, OwnerCancelFollower, type OwnerCancel } from '#workload-kit';
import { Injectable } from '@nestjs/common';
import { TripCancelIds } from './trip-cancel-ids.js';
import { TripOverError, UnknownTripError } from './trip-errors.js';
import { Trips } from './trips.service.js';

/**
 * Cancels a trip when another caller cancels its owner, through the api or an event of another service. If the
 * process dies first, `accept` and the reconciler still find the owner closed. A driver whose owner is closed goes
 * offline in the same way.
 */
@Injectable()
export class TripCancelFollower extends OwnerCancelFollower {
  constructor(
    journal: Journal,
    private readonly trips: Trips,
    private readonly cancelIds: TripCancelIds,
  ) {
    super(journal, 'Trips');
  }

  protected follow(cancel: OwnerCancel): void {
    // The orphan sweep also cancels the owner of an accepted trip, because such a trip needs its jobs no
    // longer.
    if (viewOfReceipt(cancel).why === 'orphan') return;
    const { type, id } = parseOwner(cancel.owner);
    if (type === 'trip' && isUuid(id))
      void this.retry(`Trip ${id} is not cancelled`, () => this.cancel(id, cancel));
    if (type === 'driver') void this.retry(`Driver ${id} is not offline`, () => this.trips.leaveIfClosed(id));
  }

  private async cancel(id: string, { cancelId, reason }: OwnerCancel): Promise<void> {
    try {
      if (!(await this.cancelIds.has(id, cancelId))) await this.trips.cancel(id, reason);
    } catch (error) {
      if (!(error instanceof UnknownTripError || error instanceof TripOverError)) throw error;
    }
  }
}
