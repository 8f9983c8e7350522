import { Injectable } from '@nestjs/common';
import { Job } from 'bullmq';
import { queueOfJobId } from '../kinds/ids.js';
import { Queues } from '../queues.js';

/** Has a job that was put off look again at once. */
@Injectable()
export class Waker {
  constructor(private readonly queues: Queues) {}

  /** Whether it waited for a time to come. One that is elsewhere, or gone, is left as it is. */
  async wake(jobId: string): Promise<boolean> {
    const queueName = queueOfJobId(jobId);
    if (!queueName) return false;
    try {
      await new Job(this.queues.open(queueName), '', undefined, {}, jobId).promote();
      return true;
    } catch (error) {
      if (!/delayed|Missing/i.test((error as Error).message)) throw error;
      return false;
    }
  }
}
