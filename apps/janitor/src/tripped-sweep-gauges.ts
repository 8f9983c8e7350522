import { SWEEP_KINDS, SweepBook } from '#lifecycle';
import { Runtime } from '#runtime';
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';

/** Shows which sweeps hold back. That is read from the store: another janitor may have found it, or somebody may have seen to it since. */
@Injectable()
export class TrippedSweepGauges {
  private readonly tripped: Gauge<'sweep'>;

  constructor(
    private readonly book: SweepBook,
    { metrics }: Runtime,
  ) {
    this.tripped = new Gauge({
      name: 'mooring_sweep_tripped',
      help: 'Whether a sweep would have removed so much that it removes nothing until somebody acknowledges or forces it.',
      labelNames: ['sweep'],
      registers: [metrics.registry],
    });
  }

  async update(): Promise<void> {
    const trips = await this.book.trips();
    for (const sweep of SWEEP_KINDS) this.tripped.set({ sweep }, trips[sweep] ? 1 : 0);
  }
}
