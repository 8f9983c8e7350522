import type { Runtime } from '#runtime';
import type { Gauge } from 'prom-client';

/** How often a task that keeps failing is logged. */
const REPORT_EVERY_MS = 60_000;

interface Failing {
  readonly sinceMs: number;
  reportedMs: number;
  times: number;
}

/**
 * Shows when each task last succeeded: one that fails or hangs looks like one that does not run. Logs the first failure of a task, then
 * once a minute with the number of failures: while the store is unavailable every task fails at every turn, some of them twice a second.
 */
export class TaskReports {
  private readonly failing = new Map<string, Failing>();
  private readonly log: Runtime['log'];
  private readonly doneAt: Gauge<'duty'>;
  private readonly interval: Gauge<'duty'>;

  constructor(
    { log, metrics }: Pick<Runtime, 'log' | 'metrics'>,
    private readonly now: () => number = Date.now,
  ) {
    this.log = log;
    this.doneAt = metrics.gauge(
      'mooring_janitor_duty_timestamp_seconds',
      'When a periodic task of the janitor last succeeded; before that, when it was registered.',
      ['duty'],
    );
    this.interval = metrics.gauge(
      'mooring_janitor_duty_interval_seconds',
      'Interval of a periodic task of the janitor.',
      ['duty'],
    );
  }

  register(duty: string, everyMs: number): void {
    this.interval.set({ duty }, everyMs / 1_000);
    this.done(duty);
  }

  done(duty: string): void {
    this.doneAt.set({ duty }, this.now() / 1_000);
  }

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

  /** Also of a task that another process does: that one reports it as done. */
  recovered(duty: string): void {
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
