import { LifecycleError } from '#lifecycle';

/** There is no trip of that id, or it has been over for long. */
export class UnknownTripError extends LifecycleError {
  readonly code = 'UNKNOWN_TRIP';

  constructor() {
    super('There is no trip of that id, or it has been over for more than a day.');
  }
}

/** The trip is in a state in which this cannot be done; nothing has changed. */
export class TripOverError extends LifecycleError {
  readonly code = 'TRIP_NOT_TO_BE_HAD';

  constructor(readonly status: string) {
    super(`The trip is ${status}.`);
  }
}

/** The trip is there, but not for this driver now; nothing has changed. */
export class NotForDriverError extends LifecycleError {
  readonly code = 'NOT_FOR_DRIVER';

  constructor(driverId: string, why: string) {
    super(`The trip is not for driver "${driverId}": ${why}.`);
  }
}

/** The request fails, and is tried again: the driver may be back by then. */
export class DriverUnavailableError extends Error {
  constructor(driverId: string) {
    super(`Driver "${driverId}" is not available.`);
    this.name = 'DriverUnavailableError';
    // Of each attempt it is kept with the job, and there may be a thousand.
    this.stack = '';
  }
}
