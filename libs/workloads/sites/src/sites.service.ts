import {
  Canceller,
  Enqueuer,
  JobReader,
  LifecycleError,
  LifecycleOptions,
  type JobViewState,
} from '#lifecycle';
import { Injectable, Logger } from '@nestjs/common';
import { BuildReader } from './build.reader.js';
import type { Route } from './build/routes.js';
import { asksForBuild, type EntityContent } from './site.js';
import { build, siteOwner } from './sites.kinds.js';
import { SitesRepository, type Changed, type NewSite } from './sites.repository.js';
import { ShownBuilds } from './shown.builds.js';

const BUILDS_SHOWN = 20;

export interface BuildView {
  readonly id: string;
  readonly state: JobViewState;
  /** Whether it is the one that readers get. */
  readonly current: boolean;
  readonly version: number | null;
  readonly entities: number | null;
}

export interface SiteView {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly version: number;
  readonly entities: number;
  readonly createdAt: string;
  readonly routes: readonly Route[];
  readonly builds: readonly BuildView[];
}

/** Sites and their builds. A change is written first, and a build asked for next: who dies in between is followed by another. */
@Injectable()
export class SitesService {
  private readonly log = new Logger('sites');

  constructor(
    private readonly options: LifecycleOptions,
    private readonly repository: SitesRepository,
    private readonly enqueuer: Enqueuer,
    private readonly canceller: Canceller,
    private readonly jobs: JobReader,
    private readonly shown: ShownBuilds,
    private readonly reader: BuildReader,
  ) {}

  async create(site: NewSite): Promise<SiteView> {
    return (await this.view(await this.repository.create(site)))!;
  }

  /** Creates, updates or (without content) deletes an entity. */
  async change(
    siteId: string,
    entity: { type: string; id: string; content?: EntityContent },
  ): Promise<Changed> {
    const asks = asksForBuild(entity.type);
    const changed = await this.repository.change(siteId, entity, asks);
    if (asks && 'version' in changed) await this.askOrLeave(siteId, changed.version);
    return changed;
  }

  async view(siteId: string): Promise<SiteView | undefined> {
    await this.shown.settle(siteId);
    const site = await this.repository.find(siteId);
    if (!site) return undefined;
    const { name, url, version, entities, createdAtMs, current } = site;
    const [routes, builds] = await Promise.all([
      this.reader.routes(current?.job),
      this.buildsOf(siteId, current?.job),
    ]);
    const createdAt = new Date(createdAtMs).toISOString();
    return { id: siteId, name, url, version, entities, createdAt, routes, builds };
  }

  /** It is not to be seen from here on; nothing of it runs, and nothing of it stays. */
  async delete(siteId: string, by: string): Promise<boolean> {
    if (!(await this.repository.delete(siteId))) return false;
    await this.clear(siteId, by);
    return true;
  }

  /** Whatever somebody has begun and not ended. */
  async tend(siteId: string): Promise<void> {
    if (await this.repository.isDeleted(siteId)) return this.clear(siteId, 'sites');
    await this.shown.settle(siteId);
    const version = await this.repository.unasked(siteId);
    if (version !== undefined) await this.askOrLeave(siteId, version);
  }

  /** The change stands whether or not a build can be asked for now. */
  private async askOrLeave(siteId: string, version: number): Promise<void> {
    try {
      const { id } = await this.enqueuer.enqueue(build, {}, { owners: [siteOwner(siteId)] });
      await this.repository.asked(siteId, version, id);
    } catch (error) {
      if (!(error instanceof LifecycleError)) throw error;
      this.log.debug(`A build of ${siteId} is asked for later: ${error.message}`);
    }
  }

  /** Each step may be done twice; the last one leaves nothing that leads here. */
  private async clear(siteId: string, by: string): Promise<void> {
    const about = { reason: 'the site was deleted', by: by || 'sites', cancelId: `site-${siteId}` };
    await this.canceller.cancel(siteOwner(siteId), about);
    for (const job of await this.repository.allBuilds(siteId)) await this.options.artifacts?.removeAll(job);
    await this.repository.forget(siteId);
  }

  private async buildsOf(siteId: string, current: string | undefined): Promise<BuildView[]> {
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
