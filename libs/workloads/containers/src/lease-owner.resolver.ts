import { OwnerResolver, ResolvesOwners, type OwnerLife } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { isLeaseId } from './lease-keys.js';
import { OWNER_TYPE } from './lease-kinds.js';
import { LeaseRepository } from './lease-repository.js';

/** A lease exists until its container is known to be gone. */
@Injectable()
@ResolvesOwners(OWNER_TYPE)
export class LeaseOwnerResolver extends OwnerResolver {
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
