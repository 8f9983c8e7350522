import { Journal, parseOwner } from '#lifecycle';
import { isUuid, OwnerCancelFollower, type OwnerCancel } from '#workload-kit';
import { Injectable } from '@nestjs/common';
import { TripCancelIds } from './trip-cancel-ids.js';
import { TripOverError, UnknownTripError } from './trip-errors.js';
import { Trips } from './trips.service.js';

/**
 * Cancels a trip when another caller cancels its owner, through the api or an event of another service. It
 * acts on `owner.cancelling`, so the trip does not wait for its jobs to be removed, and once more on
 * `owner.cancelled`. If every process that heard an event died, `accept` and the reconciler still find the
 * owner closed. A driver whose owner is closed goes offline in the same way.
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
    if (cancel.why === 'orphan') return;
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
