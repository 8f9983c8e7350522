import { Injectable } from '@nestjs/common';
import { Queues } from '../queues.js';
import { Store } from '../store.js';

/** How many jobs of a queue are in each state. */
export interface QueueCount {
  readonly queue: string;
  readonly counts: Readonly<Record<string, number>>;
}

/** Counts every queue's jobs; costs the same however many there are. */
@Injectable()
export class QueueCensus {
  constructor(
    private readonly queues: Queues,
    private readonly store: Store,
  ) {}

  take(): Promise<QueueCount[]> {
    return this.store.call(() =>
      Promise.all(
        this.queues.all().map(async (queue) => {
          const { prioritized = 0, waiting = 0, ...counts } = await queue.getJobCounts();
          return { queue: queue.name, counts: { ...counts, waiting: waiting + prioritized } };
        }),
      ),
    );
  }
}
