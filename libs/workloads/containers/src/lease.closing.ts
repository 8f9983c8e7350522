import { Canceller, Waker } from '#lifecycle';
import { Injectable, Logger } from '@nestjs/common';
import { inFew, type Ending } from './lease.js';
import { LeaseRepository } from './leases.repository.js';

/** Ends leases before their time. The record says so first, and nobody renews or makes anything from then on; the jobs hear of it next. */
@Injectable()
export class LeaseClosing {
  private readonly log = new Logger('Leases');

  constructor(
    private readonly leases: LeaseRepository,
    private readonly canceller: Canceller,
    private readonly waker: Waker,
  ) {}

  /** Whether there is a lease of that id. `nothingIsMade`: the engine has said so for sure. */
  async close(
    id: string,
    how: Exclude<Ending, 'expired'>,
    why: string,
    nothingIsMade = false,
  ): Promise<boolean> {
    const [word, making, ending] = await this.leases.close(id, how, why, nothingIsMade);
    switch (word) {
      case 'closed':
        // One that failed is the caller itself.
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

  /** Should it not hear of it, what it makes is refused. */
  private async abort(jobId: string, reason: string): Promise<void> {
    await this.canceller
      .cancelJob(jobId, { reason, by: 'containers' })
      .catch((error: Error) => this.log.warn(error.message));
  }

  /** Nobody waits for this: the care comes to it by itself. */
  private wake(jobId: string | undefined): void {
    if (jobId) this.waker.wake(jobId).catch((error: Error) => this.log.warn(error.message));
  }
}
