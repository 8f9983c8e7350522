import { UnrecoverableError } from 'bullmq';

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

  constructor(readonly kind: string) {
    super(
      `No kind is named ${JSON.stringify(kind.slice(0, 80))}. Register it with LifecycleModule.forKinds([…]).`,
    );
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

/** The store did not answer in time. What was asked for may or may not have happened. */
export class StoreUnavailableError extends LifecycleError {
  readonly code = 'STORE_UNAVAILABLE';

  constructor(
    why: string,
    readonly retryAfterMs: number,
    options?: ErrorOptions,
  ) {
    super(`${why} Try again in ${Math.ceil(retryAfterMs / 1000)} s.`, options);
  }
}

/** A job that is not ours, or whose data is gone. It ends failed; it is never run empty. */
export class CorruptJobError extends UnrecoverableError {
  readonly code = 'CORRUPT';

  constructor(jobId: string, queue: string) {
    super(
      `Job "${jobId}" in queue "${queue}" has no envelope of ours: its data is gone or another program made it.`,
    );
    this.name = 'CorruptJobError';
  }
}

/** This worker has no handler for the job's kind. */
export class NoHandlerError extends LifecycleError {
  readonly code = 'NO_HANDLER';
}
