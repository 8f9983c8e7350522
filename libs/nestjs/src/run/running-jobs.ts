import { Injectable } from '@nestjs/common';
import type { JobFacts } from '../journal/fact.js';

/** A job that runs in this process. */
export interface RunningJob extends JobFacts {
  readonly attempt: number;
  readonly since: number;
}

/** The runs of this process: for its health, and to show what it does. */
@Injectable()
export class RunningJobs {
  readonly runs = new Set<RunningJob>();
  /** When this process last took a job of a queue, whatever became of it, ms. */
  readonly takenAt = new Map<string, number>();

  all(): RunningJob[] {
    return [...this.runs];
  }
}
