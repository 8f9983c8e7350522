/** How often is looked whether this process runs. */
const TICK_MS = 10;

/**
 * When this process did not run, as it was starved or busy: what it heard in that time it heard late, and no other process is to
 * blame. A tick that comes late tells since when.
 */
export class Stalls {
  private readonly stalls: { readonly from: number; readonly to: number }[] = [];
  private expected = Date.now() + TICK_MS;
  private readonly ticks = setInterval(() => this.tick(), TICK_MS);

  stop(): void {
    clearInterval(this.ticks);
  }

  /** How long ago that was, without the time in which it did not run. */
  since(from: number): number {
    const now = Date.now();
    return now - from - this.within(from, now);
  }

  /** For how much of that time it did not run. */
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
