import { Canceller, Enqueuer, parseOwner, type Ticket } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { end, leaseOwner, provision } from './containers.kinds.js';
import type { LeaseRecord } from './lease.js';
import { LeaseRepository } from './leases.repository.js';

/** Gives a lease its jobs. Those that are there already are left to it, so that this may be done again. */
@Injectable()
export class LeaseSending {
  constructor(
    private readonly leases: LeaseRepository,
    private readonly enqueuer: Enqueuer,
    private readonly canceller: Canceller,
  ) {}

  /** A refusal leaves none of them. */
  async send({ id, owner, expiresAt }: LeaseRecord): Promise<void> {
    const leftMs = Math.max(0, Date.parse(expiresAt) - (await this.leases.now()));
    // First the owner who may refuse. The job is what ties the lease to him: it goes with him, and that it went says so.
    const moor = owner === undefined ? undefined : await this.ends(id, owner, leftMs);
    try {
      const ending = await this.ends(id, undefined, leftMs);
      const making = await this.enqueuer.enqueue(
        provision,
        { leaseId: id },
        { owners: [leaseOwner(id), ...(owner === undefined ? [] : [parseOwner(owner)])] },
      );
      await this.leases.sent(id, { send: making.id, end: ending.id, moor: moor?.id });
    } catch (error) {
      // One that was there before was not sent for nothing.
      if (moor?.outcome === 'created')
        await this.canceller.cancelJob(moor.id, UNWANTED).catch(() => undefined);
      throw error;
    }
  }

  /** Of the lease's own jobs the one that ends it; and another that is its owner's. Whichever comes first does it. */
  private ends(id: string, owner: string | undefined, delay: number): Promise<Ticket> {
    const owners = [owner === undefined ? leaseOwner(id) : parseOwner(owner)];
    return this.enqueuer.enqueue(
      end,
      { leaseId: id },
      { owners, delay, dedup: { strategy: 'skip', key: id } },
    );
  }
}

const UNWANTED = { reason: 'the lease was refused', by: 'containers' } as const;
