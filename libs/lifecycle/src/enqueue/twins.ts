import { Injectable } from '@nestjs/common';
import { Job, type JobState } from 'bullmq';
import { Queues } from '../queues.js';
import { Joined } from './joined.js';

/** Jobs that stand for other requests as well: where one is, and when it runs. */
@Injectable()
export class Twins {
  private readonly looks = new Joined<JobState | 'unknown'>();

  constructor(private readonly queues: Queues) {}

  /** Where it is; whoever asks for the same one in the same turn of the event loop shares the answer. */
  look(queue: string, jobId: string): Promise<JobState | 'unknown'> {
    return this.looks.ask(jobId, () => this.queues.get(queue).getJobState(jobId));
  }

  /** A delayed one runs so long from now; one that waits no more is on its way already. */
  async moveTo(queue: string, jobId: string, delayMs: number): Promise<void> {
    const job = new Job(this.queues.get(queue), '', undefined, {}, jobId);
    await job.changeDelay(delayMs).catch(ifNoLongerDelayed);
  }
}

/** What was to be done to a delayed job came too late: it is on its way, or gone. */
export function ifNoLongerDelayed(error: Error): void {
  if (!/delayed|Missing/i.test(error.message)) throw error;
}
