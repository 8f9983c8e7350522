import { ArtifactReader, JobReader, type JobView } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { SitesRepository, type Offer } from './sites.repository.js';

const PENDING: ReadonlySet<string> = new Set(['waiting', 'delayed', 'running', 'retrying']);

/** Sees to it that readers get the newest build whose run counts. Anybody may, at any time, and again. */
@Injectable()
export class ShownBuilds {
  constructor(
    private readonly sites: SitesRepository,
    private readonly artifacts: ArtifactReader,
    private readonly jobs: JobReader,
  ) {}

  async settle(siteId: string): Promise<void> {
    for (const offer of await this.sites.offers(siteId)) {
      if (await this.counts(offer)) await this.sites.switchTo(siteId, offer.job);
      else if (await this.neverCounts(offer)) await this.sites.drop(siteId, offer);
    }
  }

  /** What a run has made is to be seen only once it counts. */
  private async counts({ job }: Offer): Promise<boolean> {
    return (await this.artifacts.list(job)).length > 0;
  }

  private async neverCounts(offer: Offer): Promise<boolean> {
    if (isPending(await this.jobs.read(offer.job))) return false;
    // It may have come to count between the two looks.
    return !(await this.counts(offer));
  }
}

/** Whether it is still to be run, or runs. */
export function isPending(job: JobView | undefined): boolean {
  return job !== undefined && PENDING.has(job.state);
}
