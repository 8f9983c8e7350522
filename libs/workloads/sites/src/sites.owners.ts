import { OwnerResolver, ResolvesOwners, type OwnerLife } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { isSiteId } from './sites.keys.js';
import { OWNER_TYPE } from './sites.kinds.js';
import { SitesRepository } from './sites.repository.js';

/** A site that is gone is gone. Of `site:42` nothing is known: no id of ours looks like that. When the store cannot say, nobody knows. */
@Injectable()
@ResolvesOwners(OWNER_TYPE)
export class SiteOwners extends OwnerResolver {
  constructor(private readonly sites: SitesRepository) {
    super();
  }

  async resolve(ids: string[]): Promise<ReadonlyMap<string, OwnerLife>> {
    const ours = ids.filter(isSiteId);
    const live = await this.sites.live(ours);
    const lives = new Map(ours.map((id, i) => [id, live[i] ? 'alive' : 'gone'] as const));
    return new Map(ids.map((id) => [id, lives.get(id) ?? 'unknown']));
  }
}
