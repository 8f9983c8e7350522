import { Runtime } from '#runtime';
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';

/** Shows when each task last succeeded. A task that fails or hangs looks like one that does not run. */
@Injectable()
export class TaskGauges {
  private readonly doneAt: Gauge<'duty'>;
  private readonly interval: Gauge<'duty'>;

  constructor({ metrics }: Runtime) {
    const registers = [metrics.registry];
    this.doneAt = new Gauge({
      name: 'mooring_janitor_duty_timestamp_seconds',
      help: 'When a periodic task of the janitor last succeeded; before that, when it was registered.',
      labelNames: ['duty'],
      registers,
    });
    this.interval = new Gauge({
      name: 'mooring_janitor_duty_interval_seconds',
      help: 'Interval of a periodic task of the janitor.',
      labelNames: ['duty'],
      registers,
    });
  }

  register(duty: string, everyMs: number): void {
    this.interval.set({ duty }, everyMs / 1_000);
    this.done(duty);
  }

  done(duty: string): void {
    this.doneAt.set({ duty }, Date.now() / 1_000);
  }
}
