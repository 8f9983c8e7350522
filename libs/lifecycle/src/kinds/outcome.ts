import { UnrecoverableError } from 'bullmq';

/** How a job can end without having been done. BullMQ knows only "failed"; the mark in front says which it was. */
export type EndedAs = 'cancelled' | 'expired' | 'skipped';

/** Why a job that was too late is said to have expired, whoever found it so. */
export const TOO_LATE = 'it did not start in time';

/** Why a job was cancelled whose place a newer one of its key has taken. */
export const REPLACED = 'replaced by newer job';
/** Why a job's run was stopped by a cancel, beside those that it kept from beginning. */
export const WHILE_IT_RAN = 'its owner was cancelled while it ran';

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

/** What BullMQ says of a parent that it ended because of a child, which it names by its key. */
const CHILD = /^child \S+:([^\s:]+) failed$/;

/** Whether BullMQ ended the job because a child of it did not complete; it did not run then. */
export function failedOfChild(failedReason: string): boolean {
  return CHILD.test(failedReason);
}

/** What a job's failure says: how it ended, and why. */
export function readFailure(failedReason: string): { endedAs: EndedAs | 'failed'; why: string } {
  const [mark, endedAs] = MARK.exec(failedReason) ?? [];
  if (mark) return { endedAs: endedAs as EndedAs, why: failedReason.slice(mark.length) };
  return { endedAs: 'failed', why: failedReason.replace(CHILD, 'its child $1 did not complete') };
}
