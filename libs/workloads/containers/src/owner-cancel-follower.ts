import { Journal, parseOwner, type Fact } from '#lifecycle';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { isLeaseId } from './lease-keys.js';
import { OWNER_TYPE } from './lease-kinds.js';
import { LeaseTerminator } from './lease-terminator.js';
import { LeaseRepository } from './lease-repository.js';

/**
 * Ends a lease at once when its own or its given owner is cancelled. If the cancelling process dies first,
 * the sweep of leases finds the cancelled owner (lease-job-links.ts).
 */
@Injectable()
export class OwnerCancelFollower implements OnModuleInit {
  private readonly log = new Logger('Leases');

  constructor(
    private readonly journal: Journal,
    private readonly leases: LeaseRepository,
    private readonly terminator: LeaseTerminator,
  ) {}

  onModuleInit(): void {
    this.journal.listen((fact) => this.hear(fact));
  }

  private hear(fact: Fact): void {
    if (fact.event !== 'owner.cancelled' || fact.job !== undefined || fact.late) return;
    this.follow(fact.owner, fact.reason).catch((error: Error) => this.log.warn(error.message));
  }

  private async follow(owner: string, reason: string): Promise<void> {
    const { type, id } = parseOwner(owner);
    if (type === OWNER_TYPE && isLeaseId(id)) await this.terminator.close(id, 'cancelled', reason);
    for (const leaseId of await this.leases.ofOwner(owner))
      await this.terminator.close(leaseId, 'owner', `${owner} was cancelled: ${reason}`);
  }
}
