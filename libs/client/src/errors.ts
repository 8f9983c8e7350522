import type { Problem } from './api-types.js';

/** The api refused the call, or failed. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';

  constructor(
    /** The call, as in `GET /v1/jobs`. */
    readonly call: string,
    readonly status: number,
    /** Undefined if something in front of the api answered. */
    readonly problem: Problem | undefined,
    /** When the call may be repeated, if the answer says so. */
    readonly retryAfterMs: number | undefined,
  ) {
    super(problem?.detail ?? `${call}: the answer is ${status}, and is not from the api.`);
  }

  get code(): string | undefined {
    return this.problem?.code;
  }

  get requestId(): string | undefined {
    return this.problem?.requestId;
  }
}

/** There is no answer. The call may still have happened. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';

  constructor(
    readonly url: string,
    /** As in `ECONNREFUSED`. */
    readonly why: string,
    options: ErrorOptions,
  ) {
    super(`${url} does not answer: ${why}.`, options);
  }
}
