import { Injectable } from '@nestjs/common';
import { ErrorCode, type Job, type JobState } from 'bullmq';
import { NotDelayedError, NotWaitingError } from '../errors.js';
import { JobHistory } from '../history/job-history.js';
import { factsOf } from '../journal/fact.js';
import { Journal } from '../journal/journal.js';
import { KindRegistry } from '../kinds/kind-registry.js';
import { priorityInQueue } from '../kinds/priority.js';
import { ApplicationQueues } from '../queues/application-queues.js';

/** States in which a priority still matters. */
const HAS_PRIORITY: readonly (JobState | 'unknown')[] = ['prioritized', 'delayed', 'waiting-children'];

interface Found {
  readonly job: Job;
  readonly state: JobState | 'unknown';
}

/** Moves single jobs that have not begun, by BullMQ's own scripts. The gate lets them in, or not, as before. */
@Injectable()
export class JobMover {
  constructor(
    private readonly queues: ApplicationQueues,
    private readonly kinds: KindRegistry,
    private readonly history: JobHistory,
    private readonly journal: Journal,
  ) {}

  /** A delayed job waits now. Answers false if there is no such job. A job that waits for its slot stays in line. */
  async promote(id: string, by = ''): Promise<boolean> {
    const found = await this.find(id);
    if (found === 'removed') throw new NotDelayedError(id, found);
    if (!found) return false;
    try {
      await found.job.promote();
    } catch (error) {
      if ((error as { code?: unknown }).code !== ErrorCode.JobNotInState) throw error;
      throw new NotDelayedError(id, found.state);
    }
    this.journal.tell({ event: 'job.promoted', ...factsOf(found.job), by });
    return true;
  }

  /** @param priority among the jobs of its class of kinds, as of an enqueue; 1 is the most urgent */
  async setPriority(id: string, priority: number, by = ''): Promise<boolean> {
    const found = await this.find(id);
    if (found === 'removed') throw new NotWaitingError(id, found);
    if (!found) return false;
    const { job, state } = found;
    // A list without priorities would be searched for a job that waits in it.
    if (!HAS_PRIORITY.includes(state)) throw new NotWaitingError(id, state);
    const kind = this.kinds.find(job.name);
    await job.changePriority({ priority: kind ? priorityInQueue(kind.class, priority) : priority });
    this.journal.tell({ event: 'job.priority-set', ...factsOf(job), by, priority });
    return true;
  }

  private async find(id: string): Promise<Found | 'removed' | undefined> {
    const queue = this.queues.ofJob(id);
    const job = (await queue?.getJob(id)) as Job | undefined;
    if (queue && job) return { job, state: await queue.getJobState(id) };
    return queue && (await this.history.findRemoved(queue.name, id)) ? 'removed' : undefined;
  }
}
