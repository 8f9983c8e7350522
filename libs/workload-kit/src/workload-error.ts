import { MooringError } from '#core';

/** An error that the api answers with this HTTP status, this code, and the message as its detail. */
export abstract class WorkloadError extends MooringError {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}
