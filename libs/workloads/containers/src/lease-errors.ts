import { LifecycleError } from '#lifecycle';

/** The lease does not exist, or ended too long ago. */
export class UnknownLeaseError extends LifecycleError {
  readonly code = 'UNKNOWN_LEASE';

  constructor() {
    super('There is no lease of that id, or it has been over for more than a day.');
  }
}

/** The lease's state does not allow this; nothing has changed. */
export class LeaseOverError extends LifecycleError {
  readonly code = 'LEASE_OVER';

  constructor(readonly state: string) {
    super(`The lease is ${state}. Ask for a new one.`);
  }
}

/** The lease needs no manual clean-up; nothing has changed. */
export class NotForCleanupError extends LifecycleError {
  readonly code = 'NOT_FOR_CLEANUP';

  constructor(readonly state: string) {
    super(`The lease is ${state}: only one that is manual-cleanup is cleaned up on demand.`);
  }
}

/** A process had the lease's engine at the last attempt; nothing has changed. */
export class EngineThereError extends LifecycleError {
  readonly code = 'NOT_FOR_CLEANUP';

  constructor() {
    super('Its engine was there when it was last tried: remove the container, and the next sweep sees it.');
  }
}

/** All places are taken; nothing was written. */
export class LeasesFullError extends LifecycleError {
  readonly code = 'QUEUE_FULL';

  constructor(
    readonly limit: number,
    readonly retryAfterMs: number,
  ) {
    super(`There are ${limit} leases, the limit. Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`);
  }
}
