import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { Journal } from '../journal.js';
import { Queues } from '../queues.js';

export interface LogEntry {
  readonly event: string;
  /** When, in ms; now, if it is not said. */
  readonly at?: number;
  readonly attempt?: number;
  readonly why?: string;
}

/** At most so many entries a job; the oldest go first. */
export const LOG_KEEP = 50;

/**
 * What happened to a job beyond the ordinary, kept with it: of a job that simply runs and completes the times that BullMQ
 * keeps say everything, and nothing is written.
 */
@Injectable()
export class JobLog {
  constructor(
    private readonly queues: Queues,
    private readonly journal: Journal,
  ) {}

  /** Nobody waits for this; a line that is lost loses nothing else. */
  write(job: Job, entry: LogEntry): void {
    this.writeTo(job.queueName, job.id!, entry);
  }

  writeTo(queue: string, jobId: string, entry: LogEntry): void {
    const line = JSON.stringify({ at: Date.now(), ...entry });
    this.queues
      .get(queue)
      .addJobLog(jobId, line, LOG_KEEP)
      .catch((error: Error) => {
        // Gone already: then nobody asks what happened to it.
        if (!error.message.includes('Missing key')) this.journal.queueError(queue, error);
      });
  }
}

/** An entry of ours; whatever else is in a job's log, such as a handler's own lines, is not one. */
export function readLogLine(line: string): (LogEntry & { at: number }) | undefined {
  try {
    const entry = JSON.parse(line) as LogEntry & { at: number };
    return typeof entry.at === 'number' && typeof entry.event === 'string' ? entry : undefined;
  } catch {
    return undefined;
  }
}
