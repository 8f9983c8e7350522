import { LuaScripts, WorkloadRepository } from '#workload-kit';
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { nameOf, readName, type Entity, type EntityContent, type SiteRecord } from './site.js';
import { dueIn, isSiteId, keysOf, newSiteId } from './site-keys.js';

export const scripts = new LuaScripts(import.meta.url);

const MOST_ENTITIES = 10_000;
const MOST_BYTES = 64 * 1024 * 1024;
/** Delay before the reconciler requests a build; normally the writer requests it at once. */
const DUE_AFTER_MS = 3_000;
const TAKEN_FOR_MS = 10_000;
/** Delay before a failed build is requested again, without limit. */
const RETRY_AFTER_MS = 30_000;
/** Builds recorded per site, whatever their state. */
const BUILDS_KEPT = 100;
const PAGE = 100;

export type Changed =
  | { readonly outcome: 'created' | 'updated' | 'deleted'; readonly version: number }
  | { readonly outcome: 'absent' | 'gone' }
  | { readonly outcome: 'full'; readonly what: 'entities' | 'bytes' };

export interface NewSite {
  readonly name: string;
  readonly url: (siteId: string) => string;
  readonly paceMs: number;
}

/** The version still to show, and the last requested build with the version it covers. */
export interface Standing {
  readonly unshown: number | undefined;
  readonly asked: { readonly version: number; readonly job: string } | undefined;
}

/** Sites and their entities in the store. Each change is one script. */
@Injectable()
export class SiteRepository extends WorkloadRepository {
  protected override readonly scripts = scripts;

  async create({ name, url, paceMs }: NewSite): Promise<string> {
    const siteId = newSiteId();
    await this.run('create', siteId, ['name', name, 'url', url(siteId), 'pace', paceMs]);
    return siteId;
  }

  /** Writes an entity, or deletes it without content, and makes the site due in the same step. */
  async change(
    siteId: string,
    { type, id, content }: { type: string; id: string; content?: EntityContent },
    asks: boolean,
  ): Promise<Changed> {
    const what = content === undefined ? '' : JSON.stringify(content);
    const args = [nameOf(type, id), what, asks ? 1 : 0, MOST_ENTITIES, MOST_BYTES, DUE_AFTER_MS];
    const [outcome, more] = (await this.run('change', siteId, args)) as [Changed['outcome'], unknown];
    if (outcome === 'full') return { outcome, what: more as 'entities' | 'bytes' };
    if (outcome === 'absent' || outcome === 'gone') return { outcome };
    return { outcome, version: Number(more) };
  }

  /** Records the build requested after all changes up to that version were written. */
  async recordBuild(siteId: string, version: number, job: string): Promise<void> {
    await this.run('asked', siteId, [version, job, BUILDS_KEPT, RETRY_AFTER_MS]);
  }

  async standing(siteId: string): Promise<Standing> {
    const site = this.site(siteId);
    const [wanted, shown, version, job] = await this.call((redis) => redis.hmget(site, 'w', 'cv', 'a', 'aj'));
    const isShown = Number(wanted) <= Number(shown);
    return {
      unshown: isShown ? undefined : Number(wanted),
      asked: job ? { version: Number(version), job } : undefined,
    };
  }

  async find(siteId: string): Promise<SiteRecord | undefined> {
    const found = await this.call((redis) => redis.hgetall(this.site(siteId)));
    if (found['v'] === undefined || found['g'] !== undefined) return undefined;
    return {
      id: siteId,
      name: found['name']!,
      url: found['url']!,
      paceMs: Number(found['pace']),
      version: Number(found['v']),
      entities: Number(found['n']),
      createdAtMs: Number(found['at']),
      current: found['c'] === undefined ? undefined : { job: found['c'], version: Number(found['cv']) },
      previous: found['p'],
    };
  }

  isOurs(id: string): boolean {
    return isSiteId(id);
  }

  /** One flag per id: the site exists and is not deleted. */
  async live(siteIds: readonly string[]): Promise<boolean[]> {
    return Promise.all(
      siteIds.map(async (siteId) => {
        const [version, deleted] = await this.call((redis) => redis.hmget(this.site(siteId), 'v', 'g'));
        return version !== null && deleted === null;
      }),
    );
  }

  /** The cancelId for the owner of a deleted site; undefined if the site is not deleted. */
  async deletion(siteId: string): Promise<string | undefined> {
    return (await this.call((redis) => redis.hget(this.site(siteId), 'g'))) ?? undefined;
  }

  /** Records the start of a build and reads the site; undefined if it is gone. */
  async begin(siteId: string, job: string): Promise<Omit<SiteRecord, 'current'> | undefined> {
    await this.run('begin', siteId, [job, BUILDS_KEPT]);
    return this.find(siteId);
  }

  /** The entities in order, page by page. */
  async *entities(siteId: string): AsyncGenerator<Entity[]> {
    const site = this.site(siteId);
    let from = '-';
    for (;;) {
      const names = await this.call((redis) =>
        redis.zrangebylex(`${site}:index`, from, '+', 'LIMIT', 0, PAGE),
      );
      if (names.length === 0) return;
      const texts = await this.call((redis) => redis.hmget(`${site}:entities`, ...names));
      yield names.flatMap((name, i) => {
        const text = texts[i];
        return text ? [{ ...readName(name), content: JSON.parse(text) as EntityContent }] : [];
      });
      from = `(${names.at(-1)!}`;
    }
  }

  /** Newest first. */
  async builds(siteId: string, most: number): Promise<string[]> {
    return this.call((redis) => redis.zrevrange(`${this.site(siteId)}:builds`, 0, most - 1));
  }

  /** Lists a build to publish once its job is completed. */
  async offer(siteId: string, job: string): Promise<void> {
    await this.run('offer', siteId, [job, DUE_AFTER_MS]);
  }

  offers(siteId: string): Promise<string[]> {
    return this.call((redis) => redis.smembers(`${this.site(siteId)}:offers`));
  }

  /** Makes the build current, unless a newer one is. */
  async switchTo(siteId: string, job: string, version: number): Promise<void> {
    await this.run('switch', siteId, [job, version]);
  }

  /** Takes a build off the lists of work: it will never be shown, or no page of it is left. */
  async drop(siteId: string, job: string): Promise<void> {
    await this.run('drop', siteId, [job]);
  }

  /** The builds whose pages are read, may still be read, or are about to be. */
  async wantedBuilds(siteId: string): Promise<string[]> {
    const [site, offers] = await Promise.all([this.find(siteId), this.offers(siteId)]);
    if (!site) return [];
    const kept = [site.current?.job, site.previous].filter((job) => job !== undefined);
    return [...kept, ...offers];
  }

  /** Hides the site. The cancelId is new and secret, so no other caller can have used it. */
  async delete(siteId: string): Promise<boolean> {
    const cancelId = `site-${siteId}-${randomUUID()}`;
    return (await this.run('gone', siteId, [TAKEN_FOR_MS, cancelId])) === 'ok';
  }

  /** Every build, besides the superseded ones, that may have left artifacts. */
  async otherBuilds(siteId: string): Promise<string[]> {
    const site = this.site(siteId);
    const [builds, offers, shown] = await Promise.all([
      this.builds(siteId, BUILDS_KEPT),
      this.offers(siteId),
      this.call((redis) => redis.hmget(site, 'c', 'p')),
    ]);
    const all = [...builds, ...offers, ...shown];
    return [...new Set(all.filter((job) => job !== null))];
  }

  /** A page of superseded builds, oldest first; with `forMs`, only those superseded at least that long ago. */
  async oldBuilds(siteId: string, forMs?: number): Promise<string[]> {
    const site = this.site(siteId);
    const until = forMs === undefined ? '+inf' : (await this.now()) - forMs;
    return this.call((redis) => redis.zrangebyscore(`${site}:old`, '-inf', until, 'LIMIT', 0, PAGE));
  }

  async forget(siteId: string): Promise<void> {
    await this.run('forget', siteId, []);
  }

  /** Takes due sites of one list and hides them from other processes for a while. */
  take(shard: string, most: number): Promise<string[]> {
    return this.takeDue(dueIn(this.prefix, shard), most, TAKEN_FOR_MS);
  }

  private run(name: string, siteId: string, args: readonly (string | number)[]): Promise<unknown> {
    const { site, due } = keysOf(this.prefix, siteId);
    return this.runScript(name, [site, due], args);
  }

  private site(siteId: string): string {
    return keysOf(this.prefix, siteId).site;
  }
}
