/** The interval of the ticks. */
const TICK_MS = 10;

/**
 * The times in which this process did not run, because it was starved or busy: messages of that time were received
 * late, and the sender is not to blame. A late tick reveals the start of a stall.
 */
export class Stalls {
  private readonly stalls: { readonly from: number; readonly to: number }[] = [];
  private expected = Date.now() + TICK_MS;
  private readonly ticks = setInterval(() => this.tick(), TICK_MS);

  stop(): void {
    clearInterval(this.ticks);
  }

  /** The time since `from`, without stalls. */
  since(from: number): number {
    const now = Date.now();
    return now - from - this.within(from, now);
  }

  /** The length of the stalls between two times. */
  within(from: number, to: number): number {
    this.tick();
    return this.stalls.reduce(
      (sum, stall) => sum + Math.max(0, Math.min(to, stall.to) - Math.max(from, stall.from)),
      0,
    );
  }

  private tick(): void {
    const now = Date.now();
    if (now > this.expected + TICK_MS) this.stalls.push({ from: this.expected, to: now });
    this.expected = now + TICK_MS;
  }
}
