import { WorkloadError } from '#workload-kit';

export class UnknownTripError extends WorkloadError {
  constructor() {
    super(404, 'UNKNOWN_TRIP', 'There is no trip of that id, or it has been over for more than a day.');
  }
}

/** The trip's status does not allow this; nothing has changed. */
export class TripOverError extends WorkloadError {
  constructor(tripStatus: string) {
    super(409, 'TRIP_NOT_TO_BE_HAD', `The trip is ${tripStatus}.`);
  }
}

/** The trip is not open to this driver now; nothing has changed. */
export class NotForDriverError extends WorkloadError {
  constructor(driverId: string, why: string) {
    super(409, 'NOT_FOR_DRIVER', `The trip is not for driver "${driverId}": ${why}.`);
  }
}

/** Fails the request's attempt, so that it is retried when the driver may be back. */
export class DriverUnavailableError extends Error {
  constructor(driverId: string) {
    super(`Driver "${driverId}" is not available.`);
    this.name = 'DriverUnavailableError';
    // The job keeps the stack of each attempt, and there may be a thousand.
    this.stack = '';
  }
}
