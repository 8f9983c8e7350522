import { MooringError } from '#core';

/** The run took longer than its kind allows. The attempt has failed. */
export class RunTimedOut extends MooringError {
  readonly code = 'RUN_TIMED_OUT';

  constructor(timeoutMs: number | undefined, options?: ErrorOptions) {
    super(
      `The run took longer than ${timeoutMs === undefined ? 'its queue allows' : `${timeoutMs} ms`}.`,
      options,
    );
  }
}
