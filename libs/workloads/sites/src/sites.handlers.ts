import { Handler, Handles, type Payload, type Run } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { SiteBuild, type Built } from './build/site.build.js';
import { isSiteId } from './sites.keys.js';
import { build, OWNER_TYPE } from './sites.kinds.js';
import { SitesRepository } from './sites.repository.js';

/** Builds the site of its primary owner. */
@Injectable()
@Handles(build)
export class BuildHandler extends Handler<typeof build> {
  constructor(private readonly sites: SitesRepository) {
    super();
  }

  async handle(_payload: Payload<typeof build>, run: Run): Promise<Built | { readonly gone: true }> {
    const [primary] = run.owners;
    if (primary?.type !== OWNER_TYPE || !isSiteId(primary.id))
      throw new Error('The primary owner of a build is its site.');
    const record = await this.sites.begin(primary.id, run.id);
    // Deleted since; its cancel is on its way.
    if (!record) return { gone: true };

    const built = await new SiteBuild(record, run).make(this.sites.entities(primary.id));
    // Before the run counts: then nobody must live on to show it. Until it counts nobody gets it.
    await this.sites.offer(primary.id, run.id, built.version, run.fence);
    return built;
  }
}
