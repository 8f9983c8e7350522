import { OwnerResolver, ResolvesOwners, type OwnerLife } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { OWNER_TYPE } from './sites.kinds.js';
import { SitesRepository } from './sites.repository.js';

/** A site that is gone is gone; when the store cannot say, nobody knows. */
@Injectable()
@ResolvesOwners(OWNER_TYPE)
export class SiteOwners extends OwnerResolver {
  constructor(private readonly sites: SitesRepository) {
    super();
  }

  async resolve(ids: string[]): Promise<ReadonlyMap<string, OwnerLife>> {
    const live = await this.sites.live(ids);
    return new Map(ids.map((id, i) => [id, live[i] ? 'alive' : 'gone']));
  }
}
