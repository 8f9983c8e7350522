import { Handler, Handles, type Payload, type Run } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { SiteBuild, type Built } from './build/site-build.js';
import { isSiteId } from './site-keys.js';
import { build, OWNER_TYPE } from './site-kinds.js';
import { SiteRepository } from './site-repository.js';

/** Builds the site that is the job's primary owner. */
@Injectable()
@Handles(build)
export class BuildHandler extends Handler<typeof build> {
  constructor(private readonly sites: SiteRepository) {
    super();
  }

  async handle(_payload: Payload<typeof build>, run: Run): Promise<Built | { readonly gone: true }> {
    const [primary] = run.owners;
    if (primary?.type !== OWNER_TYPE || !isSiteId(primary.id))
      throw new Error('The primary owner of a build is its site.');
    const record = await this.sites.begin(primary.id, run.id);
    // Deleted since; the cancel will remove this job.
    if (!record) return { gone: true };

    const built = await new SiteBuild(record, run).make(this.sites.entities(primary.id));
    // Offered before the job is completed, so that any process can publish the build if this one dies.
    await this.sites.offer(primary.id, run.id);
    return built;
  }
}
