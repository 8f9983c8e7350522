import { parseOwner } from '#core';
import { Enqueuer, JobCanceller, type EnqueueTicket } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { end, leaseOwner, provision } from './lease-kinds.js';
import type { LeaseRecord } from './lease.js';
import { LeaseRepository } from './lease-repository.js';

/** Enqueues the jobs of a lease. Existing jobs are skipped, so this may be repeated. */
@Injectable()
export class LeaseJobSender {
  constructor(
    private readonly leases: LeaseRepository,
    private readonly enqueuer: Enqueuer,
    private readonly canceller: JobCanceller,
  ) {}

  /** If one job is refused, none remains. */
  async send({ id, owner, expiresAt }: LeaseRecord): Promise<void> {
    const leftMs = Math.max(0, Date.parse(expiresAt) - (await this.leases.now()));
    // The owner's job first, because the owner may refuse it. This job ties the lease to the owner: it is
    // removed with the owner, and its removal ends the lease.
    const moor = owner === undefined ? undefined : await this.ends(id, owner, leftMs);
    try {
      const ending = await this.ends(id, undefined, leftMs);
      const making = await this.enqueuer.enqueue(
        provision,
        { leaseId: id },
        { owners: [leaseOwner(id), ...(owner === undefined ? [] : [parseOwner(owner)])] },
      );
      await this.leases.recordJobs(id, { send: making.id, end: ending.id, moor: moor?.id });
    } catch (error) {
      // A job that existed before belongs to an earlier successful call.
      if (moor?.outcome === 'created') await this.canceller.cancel(moor.id, UNWANTED).catch(() => undefined);
      throw error;
    }
  }

  /**
   * Enqueues the job that ends the lease, either as the lease's own or as its owner's. Whichever runs first
   * ends it.
   */
  private ends(id: string, owner: string | undefined, delay: number): Promise<EnqueueTicket> {
    const owners = [owner === undefined ? leaseOwner(id) : parseOwner(owner)];
    return this.enqueuer.enqueue(
      end,
      { leaseId: id },
      { owners, delay, dedup: { strategy: 'skip', key: id } },
    );
  }
}

const UNWANTED = { reason: 'the lease was refused', by: 'containers' } as const;
