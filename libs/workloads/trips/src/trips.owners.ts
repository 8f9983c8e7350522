import { OwnerResolver, ResolvesOwners, type OwnerLife } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { TripRepository } from './trips.repository.js';

/** Every trip has one of these; `trip:42` is somebody else's trip, of which nothing is known here. */
const TRIP_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** A trip lives for its jobs while somebody may accept it. */
@Injectable()
@ResolvesOwners('trip')
export class TripOwners extends OwnerResolver {
  constructor(private readonly trips: TripRepository) {
    super();
  }

  async resolve(ids: string[]): Promise<ReadonlyMap<string, OwnerLife>> {
    const ours = ids.filter((id) => TRIP_ID.test(id));
    const statuses = await this.trips.statuses(ours);
    const lives = new Map(ours.map((id, i) => [id, statuses[i] === 'PENDING' ? 'alive' : 'gone'] as const));
    return new Map(ids.map((id) => [id, lives.get(id) ?? 'unknown']));
  }
}
