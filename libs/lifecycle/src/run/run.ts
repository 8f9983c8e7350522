import { Logger } from '@nestjs/common';
import type { Job } from 'bullmq';
import type { Envelope } from '../kinds/envelope.js';
import type { JobFacts } from '../kinds/job-facts.js';
import { parseOwner, type Owner } from '../kinds/owner.js';

/** What a handler is given beside its payload: which run this is, and what it may do to it. */
export class Run {
  readonly owners: readonly Owner[];
  /** 1 for the first attempt. A run that was handed back or lost its worker did not use one up. */
  readonly attempt: number;
  readonly log: Logger;
  private readonly stopping = new AbortController();

  constructor(
    private readonly job: Job,
    readonly facts: JobFacts,
    envelope: Envelope,
  ) {
    this.owners = envelope.owners.map(parseOwner);
    this.attempt = job.attemptsMade + 1;
    this.log = new Logger(facts.kind);
  }

  get id(): string {
    return this.facts.jobId;
  }

  /** Aborts when the run should stop; its `reason` says why. */
  get signal(): AbortSignal {
    return this.stopping.signal;
  }

  /** Tells whoever reads the job how far it is: a number or any small JSON value. */
  async progress(value: number | string | object): Promise<void> {
    await this.job.updateProgress(value);
  }

  stop(reason: unknown): void {
    this.stopping.abort(reason);
  }
}
