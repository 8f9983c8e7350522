import { MooringError } from '#core';

/** No kind of that name is registered in this process. Nothing was written. */
export class UnknownKindError extends MooringError {
  readonly code = 'UNKNOWN_KIND';

  constructor(
    readonly kind: string,
    near?: string,
  ) {
    const next =
      near === undefined ? 'Register it with MooringModule.forKinds([…]).' : `Did you mean ${near}?`;
    super(`No kind is named ${JSON.stringify(kind.slice(0, 80))}. ${next}`);
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

/** Whether an error of the store's client says that the store was not there, rather than anything about the call. */
export function meansUnavailable(error: unknown): boolean {
  const { message = '' } = error instanceof Error ? error : {};
  return CONNECTION_LOST.test(message) || NOT_SERVING.test(message);
}
