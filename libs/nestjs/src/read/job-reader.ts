import type { MooredQueue } from '#core';
import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { JobHistory } from '../history/job-history.js';
import { viewOfJob, viewOfRemoved, type JobView } from './job-view.js';
import { ApplicationQueues } from '../queues/application-queues.js';

const MOST_LOOKS = 5;

/** Finds a job by its id alone. */
@Injectable()
export class JobReader {
  constructor(
    private readonly queues: ApplicationQueues,
    private readonly history: JobHistory,
  ) {}

  /** The job, or what is remembered of one that was removed; undefined if nothing is known of the id. */
  async read(id: string): Promise<JobView | undefined> {
    const queue = this.queues.ofJob(id);
    if (!queue) return undefined;
    const job = await this.readJob(queue, id);
    if (job) return job;
    const removed = await this.history.findRemoved(queue.name, id);
    return removed && viewOfRemoved(id, queue.name, removed);
  }

  /** The state is read apart from the job, which may move on between the two. Then both are read again. */
  private async readJob(queue: MooredQueue, id: string): Promise<JobView | undefined> {
    let state = await queue.getJobState(id);
    for (let looks = 1; state !== 'unknown'; looks += 1) {
      const job = (await queue.getJob(id)) as Job | undefined;
      const timeline = job && (await this.history.timelineOf(job, state));
      const stateAfter = await queue.getJobState(id);
      if (timeline && (state === stateAfter || looks === MOST_LOOKS)) return viewOfJob(job, state, timeline);
      state = stateAfter;
    }
    return undefined;
  }
}
