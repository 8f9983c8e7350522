import { Injectable } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { BuildReader } from './build.reader.js';
import type { PackedRoute } from './build/packed.site.js';
import { ShownBuilds } from './shown.builds.js';
import { SitesRepository } from './sites.repository.js';

/** Between a look at which build is current and a look into it, it may have been superseded twice, and be gone. */
const LOOKS = 3;

export interface ServedPage {
  readonly route: PackedRoute;
  /** Absent when the caller has them already. */
  readonly bytes?: Readable;
}

/** Pages of the build that readers get: all of one page is of one build. */
@Injectable()
export class ServedSites {
  constructor(
    private readonly sites: SitesRepository,
    private readonly shown: ShownBuilds,
    private readonly reader: BuildReader,
  ) {}

  async find(
    siteId: string,
    path: string,
    isKnown: (etag: string) => boolean,
  ): Promise<ServedPage | undefined> {
    await this.shown.settle(siteId);
    for (let looks = 0; looks < LOOKS; looks += 1) {
      const current = (await this.sites.find(siteId))?.current;
      if (!current) return undefined;
      const route = await this.reader.page(current.job, path);
      if (route === 'none') return undefined;
      if (route && isKnown(route.etag)) return { route };
      const bytes = route && (await this.reader.bytes(current.job, route));
      if (bytes) return { route, bytes };
    }
    return undefined;
  }
}
