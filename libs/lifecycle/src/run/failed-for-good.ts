import { UnrecoverableError } from 'bullmq';

/** What a handler throws when the next attempt would fare no better: its job has failed, whatever attempts are left. */
export class FailedForGood extends UnrecoverableError {
  override readonly name = 'FailedForGood';
}
