import { OwnerResolver, ResolvesOwners, type OwnerLife } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { TripRepository } from './trips.repository.js';

/** A trip lives for its jobs while somebody may accept it. */
@Injectable()
@ResolvesOwners('trip')
export class TripOwners extends OwnerResolver {
  constructor(private readonly trips: TripRepository) {
    super();
  }

  async resolve(ids: string[]): Promise<ReadonlyMap<string, OwnerLife>> {
    const statuses = await this.trips.statuses(ids);
    return new Map(ids.map((id, i) => [id, statuses[i] === 'PENDING' ? 'alive' : 'gone']));
  }
}
