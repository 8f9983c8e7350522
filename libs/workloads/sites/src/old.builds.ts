import { LifecycleOptions } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { SitesRepository } from './sites.repository.js';

/** Who looked up the current build just before it was superseded twice may still be reading it. */
const STILL_READ_MS = 5_000;
const AT_ONCE = 100;

/**
 * Removes the pages of builds that nobody is to get any more: those of a site that changes all the time would fill a disk before
 * retention comes. Their jobs stay until it does. Anybody may, at any time, and again.
 */
@Injectable()
export class OldBuilds {
  constructor(
    private readonly options: LifecycleOptions,
    private readonly sites: SitesRepository,
  ) {}

  /** Some of those that are to go now; the site is tended until there are none. */
  due(siteId: string): Promise<string[]> {
    return this.sites.oldBuilds(siteId, AT_ONCE, STILL_READ_MS);
  }

  async remove(siteId: string, job: string): Promise<void> {
    await this.options.artifacts?.removeAll(job);
    await this.sites.removed(siteId, job);
  }

  /** Every build, of a site that nobody is to read. */
  async removeAll(siteId: string): Promise<void> {
    for (const job of await this.sites.otherBuilds(siteId)) await this.options.artifacts?.removeAll(job);
    for (;;) {
      const old = await this.sites.oldBuilds(siteId, AT_ONCE);
      if (old.length === 0) return;
      for (const job of old) await this.remove(siteId, job);
    }
  }
}
