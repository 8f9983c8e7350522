import { JobReader, type JobView } from '#nestjs';
import { Injectable } from '@nestjs/common';
import type { Built } from './build/site-build.js';
import { SiteRepository } from './site-repository.js';

const PENDING: ReadonlySet<string> = new Set(['waiting', 'delayed', 'running', 'retrying']);

/**
 * Makes the newest build whose job is completed the current one. Idempotent; any process may call it at any time.
 */
@Injectable()
export class BuildPublisher {
  constructor(
    private readonly sites: SiteRepository,
    private readonly jobs: JobReader,
  ) {}

  /** Pages become readable in the step that completes their job. */
  async settle(siteId: string): Promise<void> {
    for (const id of await this.sites.offers(siteId)) {
      const job = await this.jobs.read(id);
      if (job?.state === 'completed') await this.sites.switchTo(siteId, id, (job.result as Built).version);
      else if (!isPending(job)) await this.sites.drop(siteId, id);
    }
  }
}

/** True while the job waits or runs. */
export function isPending(job: JobView | undefined): boolean {
  return job !== undefined && PENDING.has(job.state);
}
