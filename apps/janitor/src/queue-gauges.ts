import { QueueCensus } from '#lifecycle';
import { Runtime } from '#runtime';
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';

/** Shows the census as a metric. Only the janitor does: the numbers are the fleet's, not one process's. */
@Injectable()
export class QueueGauges {
  private readonly jobs: Gauge<'queue' | 'state'>;

  constructor(
    private readonly census: QueueCensus,
    runtime: Runtime,
  ) {
    this.jobs = new Gauge({
      name: 'mooring_queue_jobs',
      help: 'Jobs of a queue in a state.',
      labelNames: ['queue', 'state'],
      registers: [runtime.metrics.registry],
    });
  }

  async update(): Promise<void> {
    for (const { queue, counts } of await this.census.take()) {
      for (const [state, count] of Object.entries(counts)) this.jobs.set({ queue, state }, count);
    }
  }
}
