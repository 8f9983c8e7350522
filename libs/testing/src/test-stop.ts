import type { RunStop, StopReason } from '#nestjs';

/** Tells a run to stop after a time. */
export class TestStop implements RunStop {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout | undefined;
  stopped: StopReason | undefined;

  constructor({ stopAfter, stopReason = 'cancelled' }: { stopAfter?: number; stopReason?: StopReason }) {
    if (stopAfter === 0) this.stop(stopReason);
    else if (stopAfter !== undefined) this.timer = setTimeout(() => this.stop(stopReason), stopAfter);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  end(): void {
    clearTimeout(this.timer);
  }

  private stop(reason: StopReason): void {
    this.stopped = reason;
    this.controller.abort(reason);
  }
}
