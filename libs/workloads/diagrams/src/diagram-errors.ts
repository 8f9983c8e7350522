import { WorkloadError } from '#workload-kit';
import type { Flaw } from './diagram.js';

/** The renderer rejects the source; nothing was written. */
export class InvalidDiagramError extends Error {
  constructor(readonly flaw: Flaw) {
    super(flaw.message);
    this.name = 'InvalidDiagramError';
  }
}

/** Too many callers wait for pictures in this process. A later request may find the picture drawn. */
export class BackpressureError extends WorkloadError {
  readonly retryAfterMs = 1_000;

  constructor(why: string) {
    super(503, 'BACKPRESSURE', `${why} Try again in 1 s.`);
  }
}
