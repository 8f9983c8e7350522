import { SweepBook } from '#nestjs';
import { Runtime } from '#runtime';
import { Injectable } from '@nestjs/common';
import type { Gauge } from 'prom-client';
import { SWEEP_KINDS } from './sweep-kinds.js';

/** Shows which sweeps are tripped. Read from the store, because another janitor or an operator may have changed it. */
@Injectable()
export class TrippedSweepGauges {
  private readonly tripped: Gauge<'sweep'>;

  constructor(
    private readonly book: SweepBook,
    { metrics }: Runtime,
  ) {
    this.tripped = metrics.gauge(
      'mooring_sweep_tripped',
      'Whether a sweep is tripped: it removes nothing until an operator acknowledges or forces it.',
      ['sweep'],
    );
  }

  async update(): Promise<void> {
    const tripped = await this.book.trips();
    for (const sweep of SWEEP_KINDS) this.tripped.set({ sweep }, tripped[sweep] ? 1 : 0);
  }
}
