import { WorkloadError } from '#workload-kit';

export class UnknownLeaseError extends WorkloadError {
  constructor() {
    super(404, 'UNKNOWN_LEASE', 'There is no lease of that id, or it has been over for more than a day.');
  }
}

/** The lease's state does not allow this; nothing has changed. */
export class LeaseOverError extends WorkloadError {
  constructor(state: string) {
    super(409, 'LEASE_OVER', `The lease is ${state}. Ask for a new one.`);
  }
}

/** The lease needs no manual clean-up, or a process has its engine; nothing has changed. */
export class NotForCleanupError extends WorkloadError {
  constructor(why: string) {
    super(409, 'NOT_FOR_CLEANUP', why);
  }
}

/** All places are taken; nothing was written. */
export class LeasesFullError extends WorkloadError {
  constructor(
    limit: number,
    readonly retryAfterMs: number,
  ) {
    const next = `Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`;
    super(429, 'QUEUE_FULL', `There are ${limit} leases, the limit. ${next}`);
  }
}
