import { Runtime } from '#runtime';
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';

/** Shows of each duty that it is done: one that fails, or never ends, looks as one that nobody does. */
@Injectable()
export class TaskGauges {
  private readonly doneAt: Gauge<'duty'>;
  private readonly interval: Gauge<'duty'>;

  constructor({ metrics }: Runtime) {
    const registers = [metrics.registry];
    this.doneAt = new Gauge({
      name: 'mooring_janitor_duty_timestamp_seconds',
      help: 'When a duty of the janitor was last done; when it was taken on, before that.',
      labelNames: ['duty'],
      registers,
    });
    this.interval = new Gauge({
      name: 'mooring_janitor_duty_interval_seconds',
      help: 'How often a duty of the janitor is to be done.',
      labelNames: ['duty'],
      registers,
    });
  }

  takenOn(duty: string, everyMs: number): void {
    this.interval.set({ duty }, everyMs / 1_000);
    this.done(duty);
  }

  done(duty: string): void {
    this.doneAt.set({ duty }, Date.now() / 1_000);
  }
}
