import { UnrecoverableError } from 'bullmq';

/** Thrown by a handler when another attempt would not help: the job has failed, whatever attempts are left. */
export class FailedForGood extends UnrecoverableError {
  override readonly name = 'FailedForGood';
}
