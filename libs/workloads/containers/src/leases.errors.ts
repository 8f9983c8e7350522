import { LifecycleError } from '#lifecycle';

/** There is no lease of that id, or it has been over for long. */
export class UnknownLeaseError extends LifecycleError {
  readonly code = 'UNKNOWN_LEASE';

  constructor() {
    super('There is no lease of that id, or it has been over for more than a day.');
  }
}

/** The lease is in a state in which this cannot be done; nothing has changed. */
export class LeaseOverError extends LifecycleError {
  readonly code = 'LEASE_OVER';

  constructor(readonly state: string) {
    super(`The lease is ${state}. Ask for a new one.`);
  }
}

/** The lease needs nobody's cleanup; nothing has changed. */
export class NotForCleanupError extends LifecycleError {
  readonly code = 'NOT_FOR_CLEANUP';

  constructor(readonly state: string) {
    super(`The lease is ${state}: only one that is manual-cleanup is cleaned up on demand.`);
  }
}

/** Somebody had the lease's engine when it was last tried; nothing has changed. */
export class EngineThereError extends LifecycleError {
  readonly code = 'NOT_FOR_CLEANUP';

  constructor() {
    super('Its engine was there when it was last tried: remove the container, and the next sweep sees it.');
  }
}

/** As many containers as may be are there, or may be; nothing was written. */
export class LeasesFullError extends LifecycleError {
  readonly code = 'QUEUE_FULL';

  constructor(
    readonly limit: number,
    readonly retryAfterMs: number,
  ) {
    super(`There are ${limit} leases, the limit. Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`);
  }
}
