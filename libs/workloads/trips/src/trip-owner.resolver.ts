import { OwnerResolver, ResolvesOwners, type OwnerLife } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { isTripId } from './trip.js';
import { TripRepository } from './trip-repository.js';

/** For its jobs, a trip exists while it can be accepted. */
@Injectable()
@ResolvesOwners('trip')
export class TripOwnerResolver extends OwnerResolver {
  constructor(private readonly trips: TripRepository) {
    super();
  }

  async resolve(ids: string[]): Promise<ReadonlyMap<string, OwnerLife>> {
    const ours = ids.filter(isTripId);
    const live = await this.trips.live(ours);
    const lives = new Map(ours.map((id, i) => [id, live[i] ? 'alive' : 'gone'] as const));
    return new Map(ids.map((id) => [id, lives.get(id) ?? 'unknown']));
  }
}
