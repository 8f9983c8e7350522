const DRIFT_MS = 5;

/** The time of day in ms with microseconds in its fraction, at the price of one reading a call: Valkey asks 70 times a job. */
export class WallClock {
  private offset = Date.now() - performance.now();

  now(): number {
    return this.offset + performance.now();
  }

  /** To be called now and then: when the machine slept or its clock was set, performance.now() knows nothing of it. */
  adjust(): void {
    const drift = Date.now() - this.now();
    if (Math.abs(drift) > DRIFT_MS) this.offset += drift;
  }
}
