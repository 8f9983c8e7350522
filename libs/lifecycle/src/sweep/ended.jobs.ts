import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { Queues } from '../queues.js';
import { Store } from '../store.js';
import type { Counting, Removing } from './retention.position.js';

/** Jobs of a queue that ended, in their order. */
export interface EndedPage {
  /** How many there are, also such that cannot be read. */
  readonly length: number;
  readonly jobs: readonly Job[];
}

/** Reads the jobs of a queue that completed, or that failed, a page at a time. */
@Injectable()
export class EndedJobs {
  constructor(
    private readonly queues: Queues,
    private readonly store: Store,
  ) {}

  async page({ queue, state, from }: Counting | Removing, limit: number, asc: boolean): Promise<EndedPage> {
    // One that is not known here any more, since another janitor was at it, is passed over.
    if (!this.queues.has(queue)) return { length: 0, jobs: [] };
    const at = this.queues.get(queue);
    return this.store.call(async () => {
      const ids = await at.getRanges([state], from, from + limit - 1, asc);
      // One by one: a job that is no JSON any more is passed over, and does not hold up those behind it.
      const found = await Promise.all(
        ids.map((id) =>
          at.getJob(id).catch((error: unknown) => {
            if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
            throw error;
          }),
        ),
      );
      return { length: ids.length, jobs: found.filter((job): job is Job => Boolean(job)) };
    });
  }
}
