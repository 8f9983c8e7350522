import { Inject, Injectable } from '@nestjs/common';
import { Journal } from '../journal/journal.js';
import { jobIdOfArtifacts, queueOfJobId } from '../kinds/job-ids.js';
import { MOORING_OPTIONS, type MooringOptions } from '../options.js';
import { inLanes } from './in-lanes.js';
import { Quarantine } from './retention/quarantine.js';
import { SweepSettings } from './sweep-settings.js';
import { MooringStore } from '../store/mooring-store.js';
import { Sweep, type Page, type Round } from './sweep.js';

type Fate = 'kept' | 'removed' | 'failed';

/**
 * Removes artifacts whose job is gone in another way than by retention: cancelled, removed by BullMQ or an operator. Artifacts that were
 * written lately are kept, whatever became of their job.
 */
@Injectable()
export class ArtifactSweep extends Sweep {
  readonly kind = 'artifacts';

  constructor(
    @Inject(MOORING_OPTIONS) private readonly options: MooringOptions,
    private readonly settings: SweepSettings,
    private readonly store: MooringStore,
    private readonly quarantine: Quarantine,
    private readonly journal: Journal,
  ) {
    super();
  }

  async sweepOnce(limit: number, { position, dryRun, signal }: Round): Promise<Page> {
    const { artifacts } = this.options;
    if (!artifacts) return { position: null, why: 'No artifacts are kept here.' };
    // Read first: what is written from here on is younger.
    const oldBy = (await this.store.now()) - this.settings.artifactGraceMs;
    const page = await artifacts.walk(position, limit, dryRun);
    const fates = await inLanes(page.jobs, signal, ({ jobId, since }) =>
      since > oldBy ? Promise.resolve<Fate>('kept') : this.judge(jobId, dryRun),
    );
    const removed = page.jobs.filter((_, i) => fates[i] === 'removed').map(({ jobId }) => jobId);
    if (!dryRun) await this.quarantine.forget(removed);
    return {
      seen: fates.length,
      removed: removed.length,
      kept: fates.filter((fate) => fate === 'kept').length,
      failed: fates.filter((fate) => fate === 'failed').length,
      lines: removed.map((jobId) => ({ what: jobId, why: 'its job is gone' })),
      ...(page.why !== undefined && { why: page.why }),
      // An interrupted page is repeated.
      position: signal.aborted ? (position ?? 'made') : page.position,
    };
  }

  private async judge(id: string, dryRun: boolean): Promise<Fate> {
    const jobId = jobIdOfArtifacts(id);
    const queue = queueOfJobId(jobId);
    if (queue === undefined) return 'kept';
    try {
      const client = await this.store.client;
      const isThere = await client.hexists(`${this.store.root}:${queue}:${jobId}`, 'timestamp');
      if (isThere) return 'kept';
      if (!dryRun) await this.options.artifacts?.removeAll(id);
      return 'removed';
    } catch (error) {
      // The next sweep finds it again.
      this.journal.trouble('The removal of artifacts', error);
      return 'failed';
    }
  }
}
