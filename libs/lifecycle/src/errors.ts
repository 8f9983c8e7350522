import { UnrecoverableError } from 'bullmq';
import { z } from 'zod';

/** When a caller may try again, unless an error says otherwise. */
const RETRY_AFTER_MS = 1_000;

/** What every error of the lifecycle has: a stable code, and a sentence that says what to do. */
export abstract class LifecycleError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The request makes no sense; nothing was written. */
export class InvalidJobError extends LifecycleError {
  readonly code = 'INVALID';
}

/** No kind of that name is registered in this process. */
export class UnknownKindError extends LifecycleError {
  readonly code = 'UNKNOWN_KIND';

  /** `next` says what to do; by default what the author of the application does. */
  constructor(
    readonly kind: string,
    next = 'Register it with LifecycleModule.forKinds([…]).',
  ) {
    super(`No kind is named ${JSON.stringify(kind.slice(0, 80))}. ${next}`.trim());
  }
}

/** The payload is larger than a job may carry; nothing was written. */
export class TooLargeError extends LifecycleError {
  readonly code = 'TOO_LARGE';

  constructor(
    readonly bytes: number,
    readonly limit: number,
  ) {
    super(`The payload has ${bytes} bytes, the limit is ${limit}. Store it elsewhere and pass a reference.`);
  }
}

/** The queue, or the owner, has as many jobs as it may; nothing was written. */
export class QueueFullError extends LifecycleError {
  readonly code = 'QUEUE_FULL';

  constructor(
    readonly what: string,
    readonly limit: number,
    readonly retryAfterMs = RETRY_AFTER_MS,
  ) {
    super(`${what} has ${limit} jobs, its limit. Try again in ${Math.ceil(retryAfterMs / 1000)} s.`);
  }
}

/** The owner has as many schedules as it may; nothing was written. */
export class SchedulesFullError extends LifecycleError {
  readonly code = 'SCHEDULES_FULL';

  constructor(
    readonly owner: string,
    readonly limit: number,
  ) {
    super(`The owner "${owner}" has ${limit} schedules, its limit. Delete one of them first.`);
  }
}

/** The slot key has another limit than the caller named; nothing was written. */
export class SlotLimitError extends LifecycleError {
  readonly code = 'SLOT_LIMIT';

  constructor(
    readonly key: string,
    readonly limit: number,
  ) {
    super(
      `The slot key ${JSON.stringify(key)} has the limit ${limit}, which all its jobs share. Name that limit, or have an administrator change it.`,
    );
  }
}

/** The owner was closed by a cancellation; nothing was written. */
export class OwnerClosedError extends LifecycleError {
  readonly code = 'OWNER_CLOSED';

  constructor(readonly owner: string) {
    super(`The owner "${owner}" is closed. Reopen it before giving it new jobs.`);
  }
}

/** The owner is not the one it was when its epoch was read; nothing was written. */
export class OwnerMovedError extends LifecycleError {
  readonly code = 'OWNER_MOVED';

  constructor(readonly owner: string) {
    super(
      `The owner "${owner}" was cancelled since its epoch was read. Read it again, should it be wanted still.`,
    );
  }
}

/** The same Idempotency-Key came with another request; nothing was written. */
export class IdempotencyConflictError extends LifecycleError {
  readonly code = 'IDEMPOTENCY_CONFLICT';

  constructor() {
    super('This Idempotency-Key was used for a different request. Use a new key for a new request.');
  }
}

/** The same cancelId came with another owner or job; nothing was cancelled. */
export class CancelConflictError extends LifecycleError {
  readonly code = 'IDEMPOTENCY_CONFLICT';

  constructor() {
    super('This cancelId was used for another owner or job. Use a new one for another cancel.');
  }
}

/** As many owners are closed without ever having had a job as may be. Nothing was cancelled: this one has no job either. */
export class ClosedOwnersFullError extends LifecycleError {
  readonly code = 'CLOSED_FULL';

  constructor(readonly owner: string) {
    super(
      `Owner "${owner}" never had a job, and no more such owners can be closed or reopened: the limit is reached (MAX_CLOSED). ` +
        'Cancel it with close: false, or ask who operates this to raise the limit.',
    );
  }
}

/** The store did not answer in time. What was asked for may or may not have happened. */
export class StoreUnavailableError extends LifecycleError {
  readonly code = 'STORE_UNAVAILABLE';

  constructor(
    why: string,
    readonly retryAfterMs = RETRY_AFTER_MS,
    options?: ErrorOptions,
  ) {
    super(`${why} Try again in ${Math.ceil(retryAfterMs / 1000)} s.`, options);
  }
}

/** It is the store itself that is away: whatever else is asked of it now fares no better. */
export class StoreAwayError extends StoreUnavailableError {}

/** The job has the artifact, and its bytes are not where they should be. */
export class ArtifactUnavailableError extends LifecycleError {
  readonly code = 'ARTIFACT_UNAVAILABLE';

  constructor(readonly artifact: string) {
    super(
      `The job has the artifact ${artifact}, but its bytes are not where they should be. Ask who operates this.`,
    );
  }
}

/** A handler wants to leave an artifact, and the application keeps none. */
export class NoArtifactStoreError extends LifecycleError {
  readonly code = 'NO_ARTIFACT_STORE';

  constructor() {
    super('There is nowhere to keep artifacts. Hand `artifacts` to LifecycleModule.forRootAsync(…).');
  }
}

/** The process of a sandboxed run is gone, and nobody here told it to end. The attempt has failed. */
export class SandboxEndedError extends LifecycleError {
  readonly code = 'SANDBOX_ENDED';

  constructor(kind: string, how: string) {
    super(`The sandbox of ${kind} ended by itself: ${how}. What it printed last may say why.`);
  }
}

/** A job that is not ours, or whose data is gone. It ends failed; it is never run empty. */
export class CorruptJobError extends UnrecoverableError {
  readonly code = 'CORRUPT';

  constructor(jobId: string, queue: string, { cause }: { cause?: unknown } = {}) {
    const why = cause instanceof Error ? ` It could not be adopted: ${cause.message}` : '';
    super(
      `Job "${jobId}" in queue "${queue}" has no envelope of ours: its data is gone or another program made it.${why}`,
    );
    this.name = 'CorruptJobError';
    if (cause !== undefined) this.cause = cause;
  }
}

/** What the job carries is not what its kind takes now. It ends failed at its first attempt: the next would fare no better. */
export class UnreadablePayloadError extends UnrecoverableError {
  readonly code = 'UNREADABLE_PAYLOAD';

  constructor(kind: string, cause: unknown) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : (cause as Error).message;
    super(`The payload of this job is not one of ${kind} any more:\n${why}`);
    this.name = 'UnreadablePayloadError';
    this.cause = cause;
  }
}
