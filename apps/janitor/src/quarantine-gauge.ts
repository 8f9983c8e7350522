import { Quarantine } from '#nestjs';
import { Runtime } from '#runtime';
import { Injectable } from '@nestjs/common';
import type { Gauge } from 'prom-client';

/** Shows the number of quarantined jobs. */
@Injectable()
export class QuarantineGauge {
  private readonly jobs: Gauge;

  constructor(
    private readonly quarantine: Quarantine,
    { metrics }: Runtime,
  ) {
    this.jobs = metrics.gauge(
      'mooring_jobs_quarantined',
      'Jobs that retention gave up on, because their artifacts could not be deleted again and again.',
    );
  }

  async update(): Promise<void> {
    this.jobs.set(await this.quarantine.count());
  }
}
