import { OwnerResolver, ResolvesOwners, type OwnerLife } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { isLeaseId } from './containers.keys.js';
import { OWNER_TYPE } from './containers.kinds.js';
import { LeaseRepository } from './leases.repository.js';

/** A lease lives until its container is known to be gone. */
@Injectable()
@ResolvesOwners(OWNER_TYPE)
export class LeaseOwners extends OwnerResolver {
  constructor(private readonly leases: LeaseRepository) {
    super();
  }

  async resolve(ids: string[]): Promise<ReadonlyMap<string, OwnerLife>> {
    const ours = ids.filter(isLeaseId);
    const states = await this.leases.states(ours);
    const lives = new Map(ours.map((id, i) => [id, isOver(states[i]) ? 'gone' : 'alive'] as const));
    return new Map(ids.map((id) => [id, lives.get(id) ?? 'unknown']));
  }
}

function isOver(state: string | null | undefined): boolean {
  return !state || state === 'ended' || state === 'failed';
}
