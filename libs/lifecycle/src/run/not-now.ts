/**
 * What a handler throws for whom it is too early: its job is put off. It occupies no worker meanwhile, and no attempt is
 * used up; it looks again by itself after so long, or when `Waker.wake` says so. Not from a sandbox.
 */
export class NotNow extends Error {
  constructor(
    /** What it waits for, in few words. */
    readonly why: string,
    readonly forMs: number,
    /**
     * Asked once the job waits: whether it need not any more. What it waited for may have come in the moment in which there
     * was nobody yet to wake.
     */
    readonly isOver: () => Promise<boolean> = () => Promise.resolve(false),
  ) {
    super(`Not now: ${why}.`);
    this.name = 'NotNow';
  }
}
