import type { Log } from '#runtime';

/** How often a task that keeps failing is logged. */
const REPORT_EVERY_MS = 60_000;

interface Failing {
  readonly sinceMs: number;
  reportedMs: number;
  times: number;
}

/**
 * Logs the first failure of a task, then once a minute with the number of failures: while the store is unavailable every task
 * fails at every turn, some of them twice a second.
 */
export class TaskFailures {
  private readonly failing = new Map<string, Failing>();

  constructor(
    private readonly log: Log,
    private readonly now: () => number = Date.now,
  ) {}

  failed(duty: string, error: unknown): void {
    const now = this.now();
    const failing = this.failing.get(duty) ?? { sinceMs: now, reportedMs: -Infinity, times: 0 };
    this.failing.set(duty, failing);
    failing.times += 1;
    if (now - failing.reportedMs < REPORT_EVERY_MS) return;
    failing.reportedMs = now;
    this.log.warn(
      { event: 'duty.failed', duty, times: failing.times, err: error },
      `${duty} failed and will be retried`,
    );
  }

  done(duty: string): void {
    const failing = this.failing.get(duty);
    if (!failing) return;
    this.failing.delete(duty);
    const { times, sinceMs } = failing;
    this.log.info(
      { event: 'duty.recovered', duty, times, failingMs: this.now() - sinceMs },
      `${duty} succeeded again after ${times === 1 ? 'one failure' : `${times} failures`}`,
    );
  }
}
