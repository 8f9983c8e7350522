/** Thrown by a handler that was called too early. The job is delayed, occupies no worker meanwhile, and no attempt is counted. */
export class SnoozeJob extends Error {
  constructor(
    /** What it waits for, in a few words. */
    readonly why: string,
    readonly forMs: number,
    /**
     * Asked once the job is delayed: whether it need not wait any more. What it waits for may have come just before, when there was no
     * delayed job yet to wake.
     */
    readonly isOver: () => Promise<boolean> = () => Promise.resolve(false),
  ) {
    super(`Snoozed for ${forMs} ms: ${why}.`);
    this.name = 'SnoozeJob';
  }
}
