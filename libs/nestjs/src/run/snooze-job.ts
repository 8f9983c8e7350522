/** Thrown by a handler that was called too early. The job is delayed, occupies no worker meanwhile, and no attempt is counted. */
export class SnoozeJob extends Error {
  constructor(
    /** What it waits for, in a few words. */
    readonly why: string,
    readonly forMs: number,
  ) {
    super(`Snoozed for ${forMs} ms: ${why}.`);
    this.name = 'SnoozeJob';
  }
}
