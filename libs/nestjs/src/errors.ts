import { MooringError } from '#core';
import { UnrecoverableError } from 'bullmq';

/** No kind of that name is registered in this process. Nothing was written. */
export class UnknownKindError extends MooringError {
  readonly code = 'UNKNOWN_KIND';

  constructor(
    readonly kind: string,
    /** Of a caller from outside: the name that was meant, if there is one like it. */
    asked?: { readonly near: string | undefined },
  ) {
    const next = asked
      ? asked.near && `Did you mean ${asked.near}?`
      : 'Register it with MooringModule.forKinds([…]).';
    super(`No kind is named ${JSON.stringify(kind.slice(0, 80))}. ${next ?? ''}`.trim());
  }
}

/** The payload is larger than a job of its kind may carry. Nothing was written. */
export class TooLargeError extends MooringError {
  readonly code = 'TOO_LARGE';

  constructor(
    readonly bytes: number,
    readonly limit: number,
  ) {
    super(`The payload has ${bytes} bytes, the limit is ${limit}. Store it elsewhere and pass a reference.`);
  }
}

/** A run wants to leave an artifact, and there is nowhere to keep it. */
export class NoArtifactStoreError extends MooringError {
  readonly code = 'NO_ARTIFACT_STORE';

  constructor(kind: string) {
    super(
      `Runs of ${kind} can leave no artifacts: there is nowhere to keep artifacts. ` +
        'Give the kind `artifacts: true`, and MooringModule.forRoot a store as `artifacts`.',
    );
  }
}

/** What the run makes does not count any more. */
export class RunOverError extends MooringError {
  readonly code = 'RUN_OVER';

  constructor(readonly why: string) {
    super(`The run is over (${why}): what it makes does not count any more.`);
  }
}

/** The process of a sandboxed run ended, and its worker did not end it. The attempt has failed. */
export class SandboxEndedError extends MooringError {
  readonly code = 'SANDBOX_ENDED';

  constructor(kind: string, how: string) {
    super(`The sandbox of ${kind} ended by itself: ${how}. What it printed last may say why.`);
  }
}

/** A child of a flow was removed from its queue. To a parent that fails with its children it has not completed. */
export class ChildRemovedError extends UnrecoverableError {
  readonly code = 'CHILD_REMOVED';

  constructor() {
    super('a child of it was removed');
    this.name = 'ChildRemovedError';
  }
}

/** Only a failed job can be retried. The job stays as it is. */
export class NotFailedError extends MooringError {
  readonly code = 'NOT_FAILED';

  constructor(
    readonly id: string,
    readonly state: string,
  ) {
    super(
      state === 'failed'
        ? `Job ${id} was retried by another call, and has failed again since.`
        : `Job ${id} has not failed (${state}): there is nothing to retry.`,
    );
  }
}

/** Only a delayed job can be promoted. The job stays as it is. */
export class NotDelayedError extends MooringError {
  readonly code = 'NOT_DELAYED';

  constructor(
    readonly id: string,
    readonly state: string,
  ) {
    super(`Job ${id} is not delayed (${state}).`);
  }
}

/** Only a job of owners that waits or is delayed can get another priority. The job stays as it is. */
export class NotWaitingError extends MooringError {
  readonly code = 'NOT_WAITING';

  constructor(
    readonly id: string,
    readonly state: string,
  ) {
    super(`Job ${id} does not wait with a priority (${state}).`);
  }
}

/** The store did not answer. What was asked for may still have happened. */
export class StoreUnavailableError extends MooringError {
  readonly code = 'STORE_UNAVAILABLE';

  constructor(
    why: string,
    options?: ErrorOptions,
    readonly retryAfterMs = 2_000,
  ) {
    super(`${why} Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`, options);
  }
}

/** The job has the artifact, and its bytes are missing. */
export class ArtifactUnavailableError extends MooringError {
  readonly code = 'ARTIFACT_UNAVAILABLE';

  constructor(readonly artifact: string) {
    super(`The job has the artifact ${artifact}, but its bytes are missing. Ask an operator.`);
  }
}

const CONNECTION_LOST =
  /Connection is closed|Command timed out|Stream isn't writeable|ECONNREFUSED|ECONNRESET|EPIPE|Command aborted/;
const NOT_SERVING =
  /^(LOADING|MASTERDOWN|CLUSTERDOWN|READONLY|NOREPLICAS|OOM|EXECABORT|MISCONF|BUSY|TRYAGAIN|Too many Cluster redirections)\b/;

/** Whether an error, such as one of the store's client, says that the store was not there, rather than anything about the call. */
export function meansUnavailable(error: unknown): boolean {
  if (error instanceof MooringError) return error instanceof StoreUnavailableError;
  const { message = '' } = error instanceof Error ? error : {};
  return CONNECTION_LOST.test(message) || NOT_SERVING.test(message);
}
