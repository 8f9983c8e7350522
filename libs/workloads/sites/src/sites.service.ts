import { OwnerClosedError, Owners } from '#core';
import { JobReader } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { BuildReader } from './build-reader.js';
import { asksForBuild, type EntityContent } from './site.js';
import type { SiteView } from './site-view.js';
import { SiteReconciler } from './site-reconciler.js';
import { NoSuchEntityError, NoSuchSiteError, SiteFullError } from './site-errors.js';
import { isSiteId } from './site-keys.js';
import { siteOwner } from './site-kinds.js';
import { SiteRepository, type Changed, type NewSite } from './site-repository.js';
import { BuildPublisher } from './build-publisher.js';

const BUILDS_SHOWN = 20;

/**
 * Sites and their builds. A change is written before its build is requested, so the reconciler requests the
 * build if the process dies in between.
 */
@Injectable()
export class SitesService {
  constructor(
    private readonly repository: SiteRepository,
    private readonly reconciler: SiteReconciler,
    private readonly owners: Owners,
    private readonly jobs: JobReader,
    private readonly shown: BuildPublisher,
    private readonly reader: BuildReader,
  ) {}

  async create(site: NewSite): Promise<SiteView> {
    return this.view(await this.repository.create(site));
  }

  /** Creates, updates or (without content) deletes an entity. */
  async change(
    siteId: string,
    entity: { type: string; id: string; content?: EntityContent },
  ): Promise<Extract<Changed, { version: number }>> {
    if (!isSiteId(siteId)) throw new NoSuchSiteError();
    await this.refuseWhenClosed(siteId);
    const asks = asksForBuild(entity.type);
    const changed = await this.repository.change(siteId, entity, asks);
    switch (changed.outcome) {
      case 'gone':
        throw new NoSuchSiteError();
      case 'absent':
        throw new NoSuchEntityError();
      case 'full':
        throw new SiteFullError(changed.what);
      case 'created':
      case 'updated':
      case 'deleted':
        if (asks) await this.reconciler.ask(siteId, changed.version);
        return changed;
    }
  }

  async view(siteId: string): Promise<SiteView> {
    if (!isSiteId(siteId)) throw new NoSuchSiteError();
    await this.shown.settle(siteId);
    const site = await this.repository.find(siteId);
    if (!site) throw new NoSuchSiteError();
    const { name, url, version, entities, createdAtMs, current } = site;
    const [routes, builds] = await Promise.all([
      this.reader.routes(current?.job),
      this.buildsOf(siteId, current?.job),
    ]);
    const createdAt = new Date(createdAtMs).toISOString();
    return { id: siteId, name, url, version, entities, createdAt, routes, builds };
  }

  /** Hides the site at once, ends its jobs and removes its data. */
  async delete(siteId: string, by: string): Promise<void> {
    if (!isSiteId(siteId) || !(await this.repository.delete(siteId))) throw new NoSuchSiteError();
    // The site is hidden already; the reconciler repeats a failed clean-up.
    await this.reconciler.clear(siteId, by).catch((error: unknown) => this.reconciler.logError(error));
  }

  /**
   * A closed owner has no builds, so the change would not show. If the owner is closed right after this
   * check, the reconciler builds when it is reopened.
   */
  private async refuseWhenClosed(siteId: string): Promise<void> {
    const owner = await this.owners.get(siteOwner(siteId), { limit: 0 });
    // The owner of a deleted site is closed too.
    if (owner?.state === 'closed' && (await this.repository.find(siteId)))
      throw new OwnerClosedError(owner.owner);
  }

  private async buildsOf(siteId: string, current: string | undefined): Promise<SiteView['builds']> {
    const ids = await this.repository.builds(siteId, BUILDS_SHOWN);
    return Promise.all(
      ids.map(async (id) => {
        const job = await this.jobs.read(id);
        const built = job?.result as { version?: number; entities?: number } | null | undefined;
        return {
          id,
          state: job?.state ?? 'removed',
          current: id === current,
          version: built?.version ?? null,
          entities: built?.entities ?? null,
        };
      }),
    );
  }
}
