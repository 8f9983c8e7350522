import { JobKeeper, Keeps, type FinishedJob } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { isSiteId } from './site-keys.js';
import { build } from './site-kinds.js';
import { SiteRepository } from './site-repository.js';

/** Protects the current build of each site, the one before, and offered builds from retention. */
@Injectable()
@Keeps(build)
export class BuildKeeper extends JobKeeper {
  constructor(private readonly sites: SiteRepository) {
    super();
  }

  async wanted(jobs: readonly FinishedJob[]): Promise<ReadonlySet<string>> {
    // Any caller may enqueue a build for an owner that is no site.
    const siteIds = new Set(jobs.map(({ owners }) => owners[0]!.id).filter(isSiteId));
    const wanted = await Promise.all([...siteIds].map((siteId) => this.sites.wantedBuilds(siteId)));
    return new Set(wanted.flat());
  }
}
