import { parseOwner } from '#core';
import { Journal } from '#nestjs';
import { isUuid, OwnerCancelFollower, type OwnerCancel } from '#workload-kit';
import { Injectable } from '@nestjs/common';
import { OWNER_TYPE } from './lease-kinds.js';
import { LeaseRepository } from './lease-repository.js';
import { LeaseTerminator } from './lease-terminator.js';

/**
 * Ends a lease at once when its own or its given owner is cancelled. If the cancelling process dies first,
 * the sweep of leases finds the cancelled owner (lease-jobs.ts).
 */
@Injectable()
export class LeaseCancelFollower extends OwnerCancelFollower {
  constructor(
    journal: Journal,
    private readonly leases: LeaseRepository,
    private readonly terminator: LeaseTerminator,
  ) {
    super(journal, 'Leases');
  }

  protected follow({ owner, reason }: OwnerCancel): void {
    this.end(owner, reason).catch((error: Error) => this.log.warn(error.message));
  }

  private async end(owner: string, reason: string): Promise<void> {
    const { type, id } = parseOwner(owner);
    if (type === OWNER_TYPE && isUuid(id)) await this.terminator.close(id, 'cancelled', reason);
    for (const leaseId of await this.leases.ofOwner(owner))
      await this.terminator.close(leaseId, 'owner', `${owner} was cancelled: ${reason}`);
  }
}
