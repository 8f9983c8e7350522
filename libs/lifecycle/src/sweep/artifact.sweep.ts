import { Injectable } from '@nestjs/common';
import { FoundJobs } from '../cancel/found.jobs.js';
import { Journal } from '../journal.js';
import { queueOfJobId } from '../kinds/ids.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Store } from '../store.js';
import { countOf, type Fate } from './fate.js';
import { inLanes } from './lanes.js';
import { BEGINNING, Sweep, type Page, type Round, type SweepKind } from './sweep.js';
import { Sweeps } from './sweeps.js';

interface Found {
  readonly jobId: string;
  readonly since: number;
}

/**
 * Removes artifacts whose job is gone by a road that did not lead past them: BullMQ's own removal, an operator, a crash.
 * What was written just now is left alone, whatever became of its job.
 */
@Injectable()
export class ArtifactSweep extends Sweep {
  readonly kind: SweepKind = 'artifacts';
  private readonly graceMs: number;

  constructor(
    sweeps: Sweeps,
    private readonly options: LifecycleOptions,
    private readonly store: Store,
    private readonly found: FoundJobs,
    private readonly journal: Journal,
  ) {
    super(sweeps);
    this.graceMs = options.sweeps?.artifactGraceMs ?? LIFECYCLE_DEFAULTS.artifactGraceMs;
  }

  async sweepOnce(limit: number, { position, dryRun, signal }: Round): Promise<Page> {
    const { artifacts } = this.options;
    if (!artifacts) return { position: null, why: 'No artifacts are kept here.' };
    // What is written after this is younger than it.
    const nowMs = await this.store.now();
    const page = await artifacts.walk(position || undefined, limit, dryRun);
    const fates = await inLanes(page.jobs, signal, (job) => this.judge(job, nowMs, dryRun));
    const lines = page.jobs
      .filter((_, i) => fates[i] === 'removed')
      .map(({ jobId }) => ({ what: jobId, why: 'its job is gone' }));
    return {
      seen: fates.length,
      ...countOf(fates),
      lines,
      ...(page.why !== undefined && { why: page.why }),
      // Stopped in its middle it is done again.
      position: signal.aborted ? (position ?? BEGINNING) : page.position,
    };
  }

  private async judge({ jobId, since }: Found, nowMs: number, dryRun: boolean): Promise<Fate> {
    if (nowMs - since < this.graceMs || queueOfJobId(jobId) === undefined) return 'kept';
    try {
      const { state, job } = await this.found.find(jobId);
      // An id may stand in a set whose job is gone. Of one that runs its worker has yet to see that.
      if (job || state === 'active') return 'kept';
      if (!dryRun) await this.options.artifacts?.removeAll(jobId);
      return 'removed';
    } catch (error) {
      // It is found again by the next sweep.
      this.journal.sweepTrouble(this.kind, jobId, error);
      return 'failed';
    }
  }
}
