import { JobCanceller, receiptOf, Waker } from '#nestjs';
import { Injectable, Logger } from '@nestjs/common';
import { end } from './lease-kinds.js';
import { inFew, type Ending } from './lease.js';
import { LeaseRepository } from './lease-repository.js';

/**
 * Ends leases before their deadline. The record changes first, so that no call can renew the lease or create
 * its container; the jobs are notified next.
 */
@Injectable()
export class LeaseTerminator {
  private readonly log = new Logger('Leases');

  constructor(
    private readonly leases: LeaseRepository,
    private readonly canceller: JobCanceller,
    private readonly waker: Waker,
  ) {}

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
