import { OwnerResolver, ResolvesOwners, type OwnerLife } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { isSiteId } from './site-keys.js';
import { OWNER_TYPE } from './site-kinds.js';
import { SiteRepository } from './site-repository.js';

/**
 * A site without a record is gone. An id such as `site:42` belongs to another service and is unknown here, as
 * is every site while the store is away.
 */
@Injectable()
@ResolvesOwners(OWNER_TYPE)
export class SiteOwnerResolver extends OwnerResolver {
  constructor(private readonly sites: SiteRepository) {
    super();
  }

  async resolve(ids: string[]): Promise<ReadonlyMap<string, OwnerLife>> {
    const ours = ids.filter(isSiteId);
    const live = await this.sites.live(ours);
    const lives = new Map(ours.map((id, i) => [id, live[i] ? 'alive' : 'gone'] as const));
    return new Map(ids.map((id) => [id, lives.get(id) ?? 'unknown']));
  }
}
