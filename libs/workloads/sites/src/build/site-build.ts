import type { Run } from '#nestjs';
import { setTimeout as pause } from 'node:timers/promises';
import { WITHOUT_PAGE, type Entity, type SiteRecord } from '../site.js';
import { PackedSite } from './packed-site.js';
import { entityPage, listPage, titleOf, type Listed } from './pages.js';
import { entityRoute, listRoute } from './routes.js';
import { HTML, staticPages } from './static-pages.js';

/** Limit of entities without a page that the home page shows. */
const MOST_NOTES = 20;

export interface Built {
  readonly version: number;
  readonly entities: number;
  readonly pages: number;
}

/**
 * Generates all pages of a site from its current entities. An entity that changes during the build may or may
 * not be in it; its change has requested another build, which starts later. The version of the build is the
 * one read before the entities.
 */
export class SiteBuild {
  private readonly site: PackedSite;
  private readonly lists = new Map<string, Listed[]>();
  private readonly notes: Entity[] = [];
  private entities = 0;

  constructor(
    private readonly record: Omit<SiteRecord, 'current'>,
    private readonly run: Run,
  ) {
    this.site = new PackedSite(run.artifacts);
  }

  async make(pages: AsyncIterable<readonly Entity[]>): Promise<Built> {
    for await (const page of pages) {
      for (const entity of page) await this.take(entity);
      await this.run.progress({ entities: this.entities });
      this.run.signal.throwIfAborted();
    }
    await pause(this.record.paceMs, undefined, { signal: this.run.signal });
    await this.addLists();
    await this.addStatic();
    await this.site.finish(this.record.version);
    const { version } = this.record;
    return { version, entities: this.entities, pages: this.site.routes.length };
  }

  private async take(entity: Entity): Promise<void> {
    const { type, id } = entity;
    this.entities += 1;
    if (WITHOUT_PAGE.has(type)) {
      if (this.notes.length < MOST_NOTES) this.notes.push(entity);
      return;
    }
    const listed = this.lists.get(type) ?? [];
    if (listed.length === 0) this.lists.set(type, listed);
    listed.push({ id, title: titleOf(entity) });
    await this.site.add(entityRoute(type, id), HTML, entityPage(this.record, entity));
  }

  private async addLists(): Promise<void> {
    for (const [type, listed] of this.lists)
      await this.site.add(listRoute(type), HTML, listPage(this.record, type, listed));
  }

  private async addStatic(): Promise<void> {
    const { lists, notes } = this;
    for (const { route, contentType, text } of staticPages(this.record, { lists, notes }, this.site.routes))
      await this.site.add(route, contentType, text);
  }
}
