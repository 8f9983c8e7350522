import { LifecycleError } from '#lifecycle';
import type { Flaw } from './diagram.js';

/** The source is wrong, and its renderer says so; nothing was written. */
export class InvalidDiagramError extends Error {
  constructor(readonly flaw: Flaw) {
    super(flaw.message);
    this.name = 'InvalidDiagramError';
  }
}

/** As many callers wait for pictures here as may. Whoever asks again finds it drawn, perhaps. */
export class BackpressureError extends LifecycleError {
  readonly code = 'BACKPRESSURE';

  constructor(
    why: string,
    readonly retryAfterMs = 1_000,
  ) {
    super(`${why} Try again in ${Math.ceil(retryAfterMs / 1000)} s.`);
  }
}
