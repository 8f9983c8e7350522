import { parseOwner, type Owner } from '#core';
import type { RunStop } from '#core/parts';
import type { Logger } from '@nestjs/common';
import type { Job } from 'bullmq';
import type { ArtifactStore } from '../artifacts/artifact-store.js';
import { RunArtifacts } from '../artifacts/run-artifacts.js';
import { readChildren, type ChildOutcome } from '../flows/children.js';
import { Progress } from './progress.js';
import { RunLogger } from './run-logger.js';

/** Where runs of one kind leave what they report and make. */
export interface RunReports {
  readonly log: (job: Job, level: string, text: string) => void;
  readonly failed: (error: unknown) => void;
  readonly artifacts: Pick<ArtifactStore, 'put' | 'removeRun'> | undefined;
}

/** What a handler is given beside its payload: which run this is, and what it may do. */
export class Run {
  /** What it leaves behind. It is shown when the run completes its job, and goes with the job. */
  readonly artifacts: RunArtifacts;
  private logger: RunLogger | undefined;
  private reported: Progress | undefined;
  private isOver = false;

  constructor(
    private readonly job: Job,
    private readonly stop: RunStop,
    private readonly reports: RunReports,
  ) {
    this.artifacts = new RunArtifacts(job, stop, reports.artifacts);
  }

  get id(): string {
    return this.job.id!;
  }

  /** Aborts when the run has to stop; its `reason` is `cancelled`, `lost`, `timeout` or `shutdown`. */
  get signal(): AbortSignal {
    return this.stop.signal;
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

  /** Lines go to the log of the process, and the first hundred to the log of the job. */
  get log(): Logger {
    return (this.logger ??= new RunLogger(this.job.name, (level, text) =>
      this.reports.log(this.job, level, text),
    ));
  }

  /**
   * How far the run is: a number, a text or a small object. It waits a second at most, and never fails the run. It does nothing once the
   * run has ended or was told to stop.
   */
  async progress(value: number | string | object): Promise<void> {
    if (!this.isWanted) return;
    this.reported ??= new Progress((latest) => this.store(latest), this.reports.failed);
    await this.reported.report(value);
  }

  /** @internal */
  end(): void {
    this.isOver = true;
  }

  private get isWanted(): boolean {
    return !this.isOver && !this.stop.stopped;
  }

  private async store(value: unknown): Promise<void> {
    if (this.isWanted) await this.job.updateProgress(value as object);
  }
}
