import { Journal, parseOwner, type Fact } from '#lifecycle';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { isLeaseId } from './containers.keys.js';
import { OWNER_TYPE } from './containers.kinds.js';
import { LeaseClosing } from './lease.closing.js';
import { LeaseRepository } from './leases.repository.js';

/**
 * A lease whose owner is cancelled, its own or the one it was given, ends at once. Should the process that cancelled die before,
 * the sweep of leases sees that the owner went (lease.moorings.ts).
 */
@Injectable()
export class LeaseFollowers implements OnModuleInit {
  private readonly log = new Logger('Leases');

  constructor(
    private readonly journal: Journal,
    private readonly leases: LeaseRepository,
    private readonly closing: LeaseClosing,
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
    if (type === OWNER_TYPE && isLeaseId(id)) await this.closing.close(id, 'cancelled', reason);
    for (const leaseId of await this.leases.ofOwner(owner))
      await this.closing.close(leaseId, 'owner', `${owner} was cancelled: ${reason}`);
  }
}
