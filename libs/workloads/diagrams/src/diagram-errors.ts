import { LifecycleError } from '#lifecycle';
import type { Flaw } from './diagram.js';

/** The renderer rejects the source; nothing was written. */
export class InvalidDiagramError extends Error {
  constructor(readonly flaw: Flaw) {
    super(flaw.message);
    this.name = 'InvalidDiagramError';
  }
}

/** Too many callers wait for pictures in this process. A later request may find the picture drawn. */
export class BackpressureError extends LifecycleError {
  readonly code = 'BACKPRESSURE';

  constructor(
    why: string,
    readonly retryAfterMs = 1_000,
  ) {
    super(`${why} Try again in ${Math.ceil(retryAfterMs / 1000)} s.`);
  }
}
