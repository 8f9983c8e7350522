import { Runtime } from '#runtime';
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';

export type Backlog = 'leases' | 'quarantine';

/** Shows items that should have been removed. A gauge is 0 until a counter is registered. */
@Injectable()
export class BacklogGauges {
  private readonly gauges: Readonly<Record<Backlog, Gauge>>;
  private readonly counts = new Map<Backlog, () => Promise<number>>();

  constructor({ metrics }: Runtime) {
    const registers = [metrics.registry];
    this.gauges = {
      leases: new Gauge({
        name: 'mooring_leases_past_due',
        help: 'Leases that are over while what they hold is still there.',
        registers,
      }),
      quarantine: new Gauge({
        name: 'mooring_jobs_quarantined',
        help: 'Jobs that retention gave up on, because their artifacts could not be deleted again and again.',
        registers,
      }),
    };
  }

  /** `count` must take constant time. */
  countBy(what: Backlog, count: () => Promise<number>): void {
    this.counts.set(what, count);
  }

  async update(): Promise<void> {
    for (const [what, count] of this.counts) this.gauges[what].set(await count());
  }
}
