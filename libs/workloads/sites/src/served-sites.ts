import { Injectable } from '@nestjs/common';
import { Readable } from 'node:stream';
import { BuildReader } from './build-reader.js';
import type { PackedRoute } from './build/packed-site.js';
import { normalPath } from './build/routes.js';
import { etagOf, unbuiltPage } from './build/static-pages.js';
import { BuildPublisher } from './build-publisher.js';
import type { SiteRecord } from './site.js';
import { SiteRepository } from './site-repository.js';

/** Retries: the build may be superseded twice, and removed, between reading its id and reading its page. */
const LOOKS = 3;

export interface ServedPage {
  readonly route: Pick<PackedRoute, 'contentType' | 'etag' | 'size'>;
  /** Absent if the caller's copy is current. */
  readonly bytes?: Readable;
}

/** Pages of the current build. A response never mixes two builds. */
@Injectable()
export class ServedSites {
  constructor(
    private readonly sites: SiteRepository,
    private readonly shown: BuildPublisher,
    private readonly reader: BuildReader,
  ) {}

  async find(
    siteId: string,
    path: string,
    isKnown: (etag: string) => boolean,
  ): Promise<ServedPage | undefined> {
    await this.shown.settle(siteId);
    for (let looks = 0; looks < LOOKS; looks += 1) {
      const site = await this.sites.find(siteId);
      if (!site?.current) return site && unbuilt(site, path, isKnown);
      const { job } = site.current;
      const route = await this.reader.page(job, path);
      if (route === 'none') return undefined;
      if (route && isKnown(route.etag)) return { route };
      const bytes = route && (await this.reader.bytes(job, route));
      if (bytes) return { route, bytes };
    }
    return undefined;
  }
}

/** Until the first build, the static pages are rendered for each request. */
function unbuilt(site: SiteRecord, path: string, isKnown: (etag: string) => boolean): ServedPage | undefined {
  const page = unbuiltPage(site, normalPath(path));
  if (!page) return undefined;
  const bytes = Buffer.from(page.text);
  const route = { contentType: page.contentType, etag: etagOf(bytes), size: bytes.length };
  return isKnown(route.etag) ? { route } : { route, bytes: Readable.from([bytes]) };
}
