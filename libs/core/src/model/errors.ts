/** When a caller may try again what was refused for want of room. */
const RETRY_AFTER_MS = 1_000;

/** What a caller has to act on. The code is stable. */
export abstract class MooringError extends Error {
  abstract readonly code: string;

  override get name(): string {
    return this.constructor.name;
  }
}

/** The request cannot be right, whatever the store holds. Nothing was written. */
export class InvalidJobError extends MooringError {
  readonly code = 'INVALID';
}

/** The owner was cancelled and takes no new jobs until it is reopened. Nothing was written. */
export class OwnerClosedError extends MooringError {
  readonly code = 'OWNER_CLOSED';

  constructor(readonly owner: string) {
    super(`${owner} is closed: it was cancelled and takes no new jobs. Reopen it if it is wanted again.`);
  }
}

/** The owner was cancelled after the job was asked for, and before it came here. Nothing was written. */
export class OwnerCancelledError extends MooringError {
  readonly code = 'OWNER_CANCELLED';

  constructor(readonly owner: string) {
    super(`${owner} was cancelled after this job was asked for.`);
  }
}

/** The owner has as many jobs as it may have. Nothing was written. */
export class OwnerFullError extends MooringError {
  readonly code = 'OWNER_FULL';
  readonly retryAfterMs = RETRY_AFTER_MS;

  constructor(readonly owner: string) {
    super(`${owner} has as many jobs as it may have. Try again when some have ended.`);
  }
}

/** The queue is at its limit. Nothing was written. */
export class QueueFullError extends MooringError {
  readonly code = 'QUEUE_FULL';
  readonly retryAfterMs = RETRY_AFTER_MS;

  constructor(
    readonly queue: string,
    readonly waiting: number,
  ) {
    super(`Queue "${queue}" has ${waiting} jobs waiting, its limit. Try again later.`);
  }
}

/** The store's memory is full. Nothing was written. */
export class StoreFullError extends MooringError {
  readonly code = 'STORE_FULL';
  readonly retryAfterMs = RETRY_AFTER_MS;

  constructor(options?: ErrorOptions) {
    super("The store's memory is full: it takes no new jobs until some have ended.", options);
  }
}

/** The slot has another limit, or another rate. Nothing was written. */
export class SlotLimitError extends MooringError {
  readonly code = 'SLOT_LIMIT';

  constructor(
    readonly limit: number,
    readonly key?: string,
    /** Absent for a slot without one. */
    readonly rate?: { readonly max: number; readonly per: number },
  ) {
    const withRate = rate ? ` and the rate ${rate.max} per ${rate.per} ms` : '';
    super(
      `The slot${key === undefined ? '' : ` "${key}"`} has the limit ${limit}${withRate}, which its first job gave it. Ask for that, or change the limit first.`,
    );
  }
}

/** As many owners are closed or reopened without ever having had a job as may be. Nothing was written: this one has no job either. */
export class ClosedOwnersFullError extends MooringError {
  readonly code = 'CLOSED_FULL';

  constructor(readonly owner: string) {
    super(
      `Owner "${owner}" never had a job, and no more such owners can be closed or reopened: the limit is reached (maxClosed). ` +
        'Cancel it with close: false, purge the closed owners, or raise the limit.',
    );
  }
}

/** The store answered the cancel and went back behind it since: another server took its place, without this write. */
export class CancelLostError extends MooringError {
  readonly code = 'STORE_UNAVAILABLE';
  readonly retryAfterMs = RETRY_AFTER_MS;

  constructor(readonly cancelId: string) {
    super(`The store lost the cancel "${cancelId}". Repeat it with the same cancelId.`);
  }
}

/** What was asked for is done, but not known to be held by a replica, or the disk. */
export class DurabilityUnknownError<Answer = unknown> extends MooringError {
  readonly code = 'DURABILITY_UNKNOWN';

  /** @param answer what the call would have answered: a ticket, ids, a receipt */
  constructor(readonly answer: Answer) {
    super(
      'It was accepted, and may be lost with the server: its durability was not confirmed in time. ' +
        'Ask again with the same jobId or cancelId, and the answer says how it is then.',
    );
  }
}

/** The cancelId was used for another owner. Nothing was cancelled. */
export class CancelConflictError extends MooringError {
  readonly code = 'IDEMPOTENCY_CONFLICT';

  constructor(readonly cancelId: string) {
    super(`The cancelId "${cancelId}" was used for another owner. Use one of its own for each cancel.`);
  }
}

/** The idempotency key was used for another request. Nothing was written. */
export class IdempotencyConflictError extends MooringError {
  readonly code = 'IDEMPOTENCY_CONFLICT';

  constructor() {
    super('This idempotency key was used for a different request. Use a new key for a new request.');
  }
}

/** There is no such job in the queue. */
export class JobNotFoundError extends MooringError {
  readonly code = 'NOT_FOUND';

  constructor(readonly id: string) {
    super(`There is no job ${id} in the queue.`);
  }
}

/** Only a job that has ended can be retried. */
export class JobNotEndedError extends MooringError {
  readonly code = 'NOT_ENDED';

  constructor(
    readonly id: string,
    readonly state: string,
  ) {
    super(`Job ${id} has neither failed nor completed (${state}): there is nothing to retry.`);
  }
}

/** Another job of the same deduplication key waits already. The job stays as it is. */
export class DuplicateJobError extends MooringError {
  readonly code = 'DUPLICATE';

  constructor(readonly pendingId: string) {
    super(
      `Job ${pendingId} waits already for the same deduplication key: the job cannot wait again beside it.`,
    );
  }
}

/** The prefix was set up with another number of partitions. Nothing was read or written. */
export class PartitionsError extends MooringError {
  readonly code = 'PARTITIONS';

  constructor(
    readonly prefix: string,
    readonly known: number,
    readonly asked: number,
  ) {
    super(
      `The prefix "${prefix}" was set up with ${known} partition(s), and this process was started with ${asked}. ` +
        'All processes of a prefix need the same number. To change it, let all jobs end and use another prefix.',
    );
  }
}
