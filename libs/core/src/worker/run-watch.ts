import type { RunLimits } from '../model/run-options.js';
import type { RunStop, StopReason } from '../model/run-stop.js';

/** A run was told to stop because its worker shuts down. Another worker begins it again, and no attempt is counted. */
export class RunHandedBack extends Error {
  constructor() {
    super('The worker shuts down.');
    this.name = 'RunHandedBack';
  }
}

/** A run did not end within its grace after it was told to stop. Its code may go on; what it returns no longer counts. */
export class RunAbandoned extends Error {
  constructor(readonly reason: StopReason) {
    super(`The run was told to stop (${reason}) and did not.`);
    this.name = 'RunAbandoned';
  }
}

/** Watches one run: tells it to stop, and gives it up when its grace is over. */
export class RunWatch<Result> implements RunStop {
  private timer: NodeJS.Timeout | undefined;
  private giveUp: ((error: RunAbandoned) => void) | undefined;
  private controller: AbortController | undefined;
  private aborted: { readonly reason: unknown } | undefined;
  stopped: StopReason | undefined;

  constructor(
    private readonly tell: (reason: StopReason) => void,
    private readonly limits: RunLimits,
  ) {}

  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController();
      if (this.aborted) this.controller.abort(this.aborted.reason);
    }
    return this.controller.signal;
  }

  /** @param running what the processor answered: not every processor answers a promise */
  follow(running: Result | Promise<Result>): Promise<Result> {
    const { runTimeoutMs } = this.limits;
    if (runTimeoutMs !== undefined) this.timer = setTimeout(() => this.stop('timeout'), runTimeoutMs);
    return new Promise<Result>((resolve, reject) => {
      this.giveUp = reject;
      Promise.resolve(running).then(resolve, reject);
    });
  }

  end(): void {
    clearTimeout(this.timer);
  }

  stop(reason: StopReason, graceMs = this.limits.stopGraceMs): void {
    if (this.stopped) return;
    this.stopped = reason;
    this.tell(reason);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.giveUp?.(new RunAbandoned(reason)), graceMs);
  }

  /** Aborts the signal only: the run may take any time to end. */
  abort(reason: unknown): void {
    this.aborted ??= { reason };
    this.controller?.abort(reason);
  }
}
