import { ArtifactReader, JobReader, type JobView } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { SiteRepository, type Offer } from './site-repository.js';

const PENDING: ReadonlySet<string> = new Set(['waiting', 'delayed', 'running', 'retrying']);

/**
 * Makes the newest build whose run counts the current one. Idempotent; any process may call it at any time.
 */
@Injectable()
export class BuildPublisher {
  constructor(
    private readonly sites: SiteRepository,
    private readonly artifacts: ArtifactReader,
    private readonly jobs: JobReader,
  ) {}

  async settle(siteId: string): Promise<void> {
    for (const offer of await this.sites.offers(siteId)) {
      if (await this.counts(offer)) await this.sites.switchTo(siteId, offer.job);
      else if (await this.neverCounts(offer)) await this.sites.drop(siteId, offer);
    }
  }

  /** The artifacts of a run are listed only once the run counts. */
  private async counts({ job }: Offer): Promise<boolean> {
    return (await this.artifacts.list(job)).length > 0;
  }

  private async neverCounts(offer: Offer): Promise<boolean> {
    if (isPending(await this.jobs.read(offer.job))) return false;
    // The run may have been counted between the two reads.
    return !(await this.counts(offer));
  }
}

/** True while the job waits or runs. */
export function isPending(job: JobView | undefined): boolean {
  return job !== undefined && PENDING.has(job.state);
}
