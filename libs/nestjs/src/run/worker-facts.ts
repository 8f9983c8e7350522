import type { RefusedJob } from '#core';
import { Injectable } from '@nestjs/common';
import type { Job, Worker } from 'bullmq';
import { wordsOfFailure } from '../history/failed-child.js';
import { JobLog } from '../history/job-log.js';
import { JobHistory } from '../history/job-history.js';
import { factsOf } from '../journal/fact.js';
import { Journal } from '../journal/journal.js';
import type { RegisteredWorker } from '../queues/registered-worker.js';

/** Says how the jobs of a worker ended. */
@Injectable()
export class WorkerFacts {
  constructor(
    private readonly journal: Journal,
    private readonly history: JobHistory,
    private readonly log: JobLog,
  ) {}

  follow(worker: Worker): void {
    const moored = worker as RegisteredWorker;
    const queue = worker.name;
    moored.on('completed', (job) => this.completed(job));
    moored.on('failed', (job, error) => job && this.failed(job, error));
    moored.on('cancelled', (job) =>
      this.journal.tell({
        event: 'job.cancelled',
        ...factsOf(job),
        why: 'its owner was cancelled while it ran',
      }),
    );
    moored.on('refused', (refused) => void this.refused(queue, refused));
    moored.on('lost', (job) =>
      this.journal.tell({ event: 'job.lost', ...factsOf(job), why: 'its lock is gone' }),
    );
    moored.onHandedBack = (job) => this.handedBack(job);
    moored.on('stalled', (jobId) =>
      this.journal.tell({
        event: 'job.stalled',
        queue,
        kind: '',
        owner: '',
        jobId,
        why: 'its worker is gone',
      }),
    );
    moored.on('error', (error) => this.journal.trouble(`Queue ${queue}`, error));
  }

  private completed(job: Job): void {
    const { processedOn = 0, finishedOn = 0, timestamp } = job;
    const times = { tookMs: finishedOn - processedOn, lifetimeMs: Math.max(0, finishedOn - timestamp) };
    this.journal.tell({ event: 'job.completed', ...factsOf(job), ...times });
  }

  private failed(job: Job, { message }: Error): void {
    const { processedOn, finishedOn, timestamp, attemptsMade: attempt } = job;
    const facts = factsOf(job);
    const [at, why] = [Date.now(), wordsOfFailure(message)];
    const failure = { ...facts, tookMs: at - (processedOn ?? at), why };
    if (finishedOn !== undefined) {
      const lifetimeMs = Math.max(0, finishedOn - timestamp);
      return this.journal.tell({ event: 'job.failed', ...failure, final: true, lifetimeMs });
    }
    this.log.write(facts.queue, facts.jobId, { at, event: 'failed', attempt, why, beganAt: processedOn! });
    this.journal.tell({ event: 'job.failed', ...failure, final: false });
  }

  /** BullMQ handed the job out and the gate did not let it run: the worker knows no more than its id. */
  private async refused(queue: string, { id: jobId, reason }: RefusedJob): Promise<void> {
    try {
      const job = await this.history.findRemoved(queue, jobId);
      const facts = { queue, jobId, kind: job?.kind ?? '', owner: job?.owners[0] ?? '' };
      this.journal.tell({ event: `job.${reason}`, ...facts, why: job?.words ?? reason });
    } catch (error) {
      this.journal.trouble(`A refused job of queue ${queue}`, error);
    }
  }

  private handedBack(job: Job): void {
    const why = 'its worker ended';
    this.journal.tell({ event: 'job.handed-back', ...factsOf(job), why });
    if (job.processedOn) this.log.writeRetrying(job, why);
  }
}
