import { CommittedArtifacts } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { SiteRepository } from './site-repository.js';

/** Grace period for readers who looked up the current build just before it was superseded twice. */
const STILL_READ_MS = 5_000;
const AT_ONCE = 100;

/**
 * Removes the pages of superseded builds, because those of a site that changes all the time would fill a disk
 * before retention runs. The jobs stay until retention removes them. Idempotent; any process may call it at
 * any time.
 */
@Injectable()
export class OldBuildRemover {
  constructor(
    private readonly artifacts: CommittedArtifacts,
    private readonly sites: SiteRepository,
  ) {}

  /** A page of the builds to remove now; the site stays due until there are none. */
  due(siteId: string): Promise<string[]> {
    return this.sites.oldBuilds(siteId, AT_ONCE, STILL_READ_MS);
  }

  async remove(siteId: string, job: string): Promise<void> {
    await this.artifacts.removeAll(job);
    await this.sites.drop(siteId, job);
  }

  /** Removes every build of a deleted site. */
  async removeAll(siteId: string): Promise<void> {
    for (const job of await this.sites.otherBuilds(siteId)) await this.artifacts.removeAll(job);
    for (;;) {
      const old = await this.sites.oldBuilds(siteId, AT_ONCE);
      if (old.length === 0) return;
      for (const job of old) await this.remove(siteId, job);
    }
  }
}
