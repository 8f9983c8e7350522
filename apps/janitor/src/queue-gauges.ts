import { QueueReader } from '#nestjs';
import { Runtime } from '#runtime';
import { Injectable } from '@nestjs/common';
import type { Gauge } from 'prom-client';

/** Shows the queues as metrics. Only the janitor does, because the numbers describe the whole fleet. */
@Injectable()
export class QueueGauges {
  private readonly jobs: Gauge<'queue' | 'state'>;
  private readonly oldest: Gauge<'queue'>;
  private readonly paused: Gauge<'queue'>;

  constructor(
    private readonly queues: QueueReader,
    { metrics }: Runtime,
  ) {
    this.jobs = metrics.gauge('mooring_queue_jobs', 'Jobs of a queue in a state.', ['queue', 'state']);
    this.oldest = metrics.gauge(
      'mooring_queue_oldest_waiting_seconds',
      'For how long the oldest waiting job of a queue has been due; 0 when none waits.',
      ['queue'],
    );
    this.paused = metrics.gauge('mooring_queue_paused', 'Whether a queue is held back.', ['queue']);
  }

  async update(): Promise<void> {
    for (const { queue, counts, oldestWaitingMs, paused } of await this.queues.read()) {
      for (const [state, count] of Object.entries(counts)) this.jobs.set({ queue, state }, count);
      this.oldest.set({ queue }, (oldestWaitingMs ?? 0) / 1_000);
      this.paused.set({ queue }, paused ? 1 : 0);
    }
  }
}
