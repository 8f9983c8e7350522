import { MooringError } from '#core';

/** The application cannot start as it is put together. The message says what to change. */
export class MooringSetupError extends MooringError {
  readonly code = 'SETUP';
}
