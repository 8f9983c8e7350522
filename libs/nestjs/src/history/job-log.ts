import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { QueueRegistry } from '../enqueue/queue-registry.js';
import { Journal } from '../journal/journal.js';

/** Something that happened to a job and that BullMQ's fields do not say. A job that simply runs and completes has no entry. */
export interface JobEvent {
  readonly at: number;
  readonly event: string;
  readonly attempt?: number;
  readonly why?: string;
  /** When the run began that ended so. */
  readonly beganAt?: number;
  /** When a job that had failed was retried, and by whom. */
  readonly retriedAt?: number;
  readonly retriedBy?: string;
}

/** A line that a run wrote by `run.log`. */
export interface LogLine {
  readonly at: number;
  readonly level: string;
  readonly text: string;
}

/** Entries of a job; the oldest go first. */
const MOST_KEPT = 300;

/** The log of a job: BullMQ's, which goes with the job. Nothing waits for a write, and a lost entry loses nothing else. */
@Injectable()
export class JobLog {
  constructor(
    private readonly queues: QueueRegistry,
    private readonly journal: Journal,
  ) {}

  write(queue: string, jobId: string, entry: JobEvent | LogLine): void {
    const written = this.queues.get(queue).addJobLog(jobId, JSON.stringify(entry), MOST_KEPT);
    written.catch((error: Error) => {
      // The job has been removed, and its log with it.
      if (!error.message.includes('Missing key')) this.journal.trouble(`The log of a job of ${queue}`, error);
    });
  }

  /** A run ended before its end, and its job begins again. */
  writeRetrying({ queueName, id, attemptsMade, processedOn: beganAt }: Job, why: string): void {
    const entry = { at: Date.now(), event: 'retrying', attempt: attemptsMade + 1, why, beganAt: beganAt! };
    this.write(queueName, id!, entry);
  }

  async read(
    queue: string,
    jobId: string,
  ): Promise<{ readonly events: JobEvent[]; readonly lines: LogLine[] }> {
    const { logs } = await this.queues.get(queue).getJobLogs(jobId, 0, MOST_KEPT);
    const [events, lines]: [JobEvent[], LogLine[]] = [[], []];
    for (const entry of logs.map(parse)) {
      if ('event' in entry) events.push(entry);
      else lines.push(entry);
    }
    return { events, lines };
  }
}

/** Programs beside Mooring write plain text. */
function parse(text: string): JobEvent | LogLine {
  try {
    const entry = JSON.parse(text) as JobEvent | LogLine | null;
    if (typeof entry?.at === 'number') return entry;
  } catch {
    // It is a line as well.
  }
  return { at: 0, level: 'info', text };
}
