import { parseOwner, type Owner } from '#core';
import { Logger } from '@nestjs/common';
import type { Job } from 'bullmq';
import type { ArtifactStore } from '../artifacts/artifact-store.js';
import { RunArtifacts } from '../artifacts/run-artifacts.js';
import { readChildren, type ChildOutcome } from '../flows/children.js';

/** What a handler is given beside its payload: which run this is, and what it may do. */
export class Run {
  /** What it leaves behind. It is shown when the run completes its job, and goes with the job. */
  readonly artifacts: RunArtifacts;
  private logger: Logger | undefined;

  constructor(
    private readonly job: Job,
    /** Aborts when the run has to stop; its `reason` is `cancelled`, `lost`, `timeout` or `shutdown`. */
    readonly signal: AbortSignal,
    store?: ArtifactStore,
  ) {
    this.artifacts = new RunArtifacts(job, signal, store);
  }

  get id(): string {
    return this.job.id!;
  }

  /** 1 for the first attempt. A run that was handed back or lost its worker did not count. */
  get attempt(): number {
    return this.job.attemptsMade + 1;
  }

  get owners(): readonly Owner[] {
    return (this.job.opts.owners ?? []).map(parseOwner);
  }

  /** Grows with every run of the job. A system that keeps the highest it has seen can refuse an overtaken run. */
  get fence(): number {
    return this.job.attemptsStarted;
  }

  /** How the children of this job ended, if it is the parent of a flow, in the order in which they were named. */
  children(): Promise<readonly ChildOutcome[]> {
    return readChildren(this.job);
  }

  get log(): Logger {
    return (this.logger ??= new Logger(this.job.name));
  }

  /** How far the run is: a number, a text or a small object. A store that is away does not fail the run. */
  async progress(value: number | string | object): Promise<void> {
    await this.job.updateProgress(value).catch((error: Error) => this.log.warn(error.message));
  }
}
