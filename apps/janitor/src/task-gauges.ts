import { Runtime } from '#runtime';
import { Injectable } from '@nestjs/common';
import type { Gauge } from 'prom-client';

/** Shows when each task last succeeded. A task that fails or hangs looks like one that does not run. */
@Injectable()
export class TaskGauges {
  private readonly doneAt: Gauge<'duty'>;
  private readonly interval: Gauge<'duty'>;

  constructor({ metrics }: Runtime) {
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
    this.doneAt.set({ duty }, Date.now() / 1_000);
  }
}
