import { parseOwner } from '#core';
import { JobCanceller, Journal, receiptOf, Waker } from '#nestjs';
import { isUuid, OwnerCancelFollower, type OwnerCancel } from '#workload-kit';
import { Injectable } from '@nestjs/common';
import { end, OWNER_TYPE } from './lease-kinds.js';
import { inFew, type Ending } from './lease.js';
import { LeaseRepository } from './lease-repository.js';

/**
 * Ends leases before their deadline: on demand, and at once when their own or their given owner is cancelled. The record
 * changes first, so that no call can renew the lease or create its container; the jobs are notified next. If the process of
 * an owner's cancel dies first, the sweep of leases finds the cancelled owner (lease-jobs.ts).
 */
@Injectable()
export class LeaseTerminator extends OwnerCancelFollower {
  constructor(
    journal: Journal,
    private readonly leases: LeaseRepository,
    private readonly canceller: JobCanceller,
    private readonly waker: Waker,
  ) {
    super(journal, 'Leases');
  }

  /**
   * Returns whether the lease exists. `nothingIsMade`: the engine reported that no container is being
   * created.
   */
  async close(
    id: string,
    how: Exclude<Ending, 'expired'>,
    why: string,
    nothingIsMade = false,
  ): Promise<boolean> {
    const [word, making, ending] = await this.leases.close(id, how, why, nothingIsMade);
    switch (word) {
      case 'closed':
        // After a failure the caller is this job itself.
        if (making && how !== 'failed') await this.abort(making, inFew(why));
        this.wake(ending);
        return true;
      case 'again':
        this.wake(ending);
        return true;
      case 'kept':
      case 'over':
        return true;
      case 'unknown':
        return false;
    }
  }

  protected follow({ owner, reason }: OwnerCancel): void {
    this.closeOf(owner, reason).catch((error: Error) => this.log.warn(error.message));
  }

  private async closeOf(owner: string, reason: string): Promise<void> {
    const { type, id } = parseOwner(owner);
    if (type === OWNER_TYPE && isUuid(id)) await this.close(id, 'cancelled', reason);
    for (const leaseId of await this.leases.ofOwner(owner))
      await this.close(leaseId, 'owner', `${owner} was cancelled: ${reason}`);
  }

  /** If the job misses the cancel, the container it creates is refused. */
  private async abort(jobId: string, reason: string): Promise<void> {
    await receiptOf(this.canceller.cancel(jobId, { reason, by: 'containers' })).catch((error: Error) =>
      this.log.warn(error.message),
    );
  }

  /** Not awaited: the reconciler ends the lease if the wake is lost. */
  private wake(jobId: string | undefined): void {
    if (jobId) this.waker.wake(end.queue, jobId).catch((error: Error) => this.log.warn(error.message));
  }
}
