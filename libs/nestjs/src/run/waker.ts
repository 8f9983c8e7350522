import { Injectable } from '@nestjs/common';
import { Job } from 'bullmq';
import { QueueRegistry } from '../enqueue/queue-registry.js';

/** Ends the delay of a job. */
@Injectable()
export class Waker {
  constructor(private readonly queues: QueueRegistry) {}

  /** Whether it was delayed. A job that is elsewhere, or gone, stays as it is. */
  async wake(queue: string, jobId: string): Promise<boolean> {
    try {
      await new Job(this.queues.get(queue), '', undefined, {}, jobId).promote();
      return true;
    } catch (error) {
      if (!/delayed|Missing/i.test((error as Error).message)) throw error;
      return false;
    }
  }
}
