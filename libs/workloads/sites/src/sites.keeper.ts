import { JobKeeper, Keeps, type FinishedJob } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { isSiteId } from './sites.keys.js';
import { build } from './sites.kinds.js';
import { SitesRepository } from './sites.repository.js';

/** Of each site the build that readers get is wanted, the one before, and what is about to be shown. */
@Injectable()
@Keeps(build)
export class BuildKeeper extends JobKeeper {
  constructor(private readonly sites: SitesRepository) {
    super();
  }

  async wanted(jobs: readonly FinishedJob[]): Promise<ReadonlySet<string>> {
    // Anybody may ask for a build, also of what is no site.
    const siteIds = new Set(jobs.map(({ owners }) => owners[0]!.id).filter(isSiteId));
    const wanted = await Promise.all([...siteIds].map((siteId) => this.sites.wantedBuilds(siteId)));
    return new Set(wanted.flat());
  }
}
