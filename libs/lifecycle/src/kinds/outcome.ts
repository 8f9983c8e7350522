import { UnrecoverableError } from 'bullmq';

/** How a job can end without having been done. BullMQ knows only "failed"; the mark in front says which it was. */
export type EndedAs = 'cancelled' | 'expired' | 'skipped';

const MARK = /^\[(cancelled|expired|skipped)\] /;

/** Ends a job for good, without another attempt, as something other than failed. */
export class EndedError extends UnrecoverableError {
  constructor(
    readonly endedAs: EndedAs,
    readonly why: string,
  ) {
    super(`[${endedAs}] ${why}`);
    this.name = 'EndedError';
  }
}

/** What a job's failure says: how it ended, and why. */
export function readFailure(failedReason: string): { endedAs: EndedAs | 'failed'; why: string } {
  const [mark, endedAs] = MARK.exec(failedReason) ?? [];
  return mark
    ? { endedAs: endedAs as EndedAs, why: failedReason.slice(mark.length) }
    : { endedAs: 'failed', why: failedReason };
}
