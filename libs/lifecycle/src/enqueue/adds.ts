import { Injectable } from '@nestjs/common';
import { Queues } from '../queues.js';
import type { NewJob } from './new-jobs.js';

/**
 * Adds jobs to their queues, each by itself: BullMQ's bulk add answers all at the end of all, and while its callers wait
 * for that nobody asks for anything. Adding a job twice is adding it once; who adds one that is on its way waits for that.
 */
@Injectable()
export class Adds {
  private readonly underWay = new Map<string, Promise<void>>();

  constructor(private readonly queues: Queues) {}

  add(queue: string, { name, data, opts }: NewJob): Promise<void> {
    const { jobId } = opts;
    const same = this.underWay.get(jobId);
    if (same) return same;

    const done = this.queues
      .get(queue)
      .add(name, data, opts)
      .then(
        () => void this.underWay.delete(jobId),
        (error: unknown) => {
          this.underWay.delete(jobId);
          throw error;
        },
      );
    this.underWay.set(jobId, done);
    return done;
  }
}
