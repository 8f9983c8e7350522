import { OwnerClosedError, Owners, parseOwner } from '#core';
import { Enqueuer, JobCanceller, JobHistory, JobReader, type EnqueueTicket } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { end, leaseOwner, provision } from './lease-kinds.js';
import { LeaseRepository } from './lease-repository.js';
import { LeaseTerminator } from './lease-terminator.js';
import type { Ending, LeaseRecord } from './lease.js';

const PENDING: readonly string[] = ['waiting', 'delayed', 'running', 'retrying'];

/** Repair for a lease whose jobs are missing or were removed with an owner. */
export type Loose = { readonly how: Exclude<Ending, 'expired'>; readonly why: string } | 'send';

/**
 * The jobs that tie a lease to its owners: they are removed with the owner, which shows a cancelled owner even if its event
 * was lost.
 */
@Injectable()
export class LeaseJobs {
  constructor(
    private readonly leases: LeaseRepository,
    private readonly enqueuer: Enqueuer,
    private readonly canceller: JobCanceller,
    private readonly jobs: JobReader,
    private readonly history: JobHistory,
    private readonly owners: Owners,
    private readonly terminator: LeaseTerminator,
  ) {}

  /** Existing jobs are skipped, so this may be repeated. If one job is refused, none remains. */
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

  /** Sends the jobs, or ends the lease if its owner is closed. */
  async sendOrEnd(lease: LeaseRecord): Promise<void> {
    try {
      await this.send(lease);
    } catch (error) {
      if (!(error instanceof OwnerClosedError)) throw error;
      const how = error.owner === lease.owner ? 'owner' : 'cancelled';
      await this.terminator.close(lease.id, how, `${error.owner} is closed`);
    }
  }

  /** Undefined if all jobs are in place. */
  async look(lease: LeaseRecord): Promise<Loose | undefined> {
    const { jobs, owner } = lease;
    if (!jobs) return 'send';
    if (await this.wentWithOwner(jobs.end)) return { how: 'cancelled', why: 'its owner was cancelled' };
    if (jobs.moor && (await this.wentWithOwner(jobs.moor)))
      return { how: 'owner', why: `${owner} was cancelled` };
    const needed = [jobs.end, jobs.moor, lease.state === 'provisioning' ? jobs.send : undefined];
    for (const job of needed) if (job && !(await this.isPending(job))) return 'send';
    return undefined;
  }

  async mend(lease: LeaseRecord, loose: Loose): Promise<void> {
    if (loose === 'send') await this.sendOrEnd(lease);
    else await this.terminator.close(lease.id, loose.how, loose.why);
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

  /** Removing a single job is not cancelling its owner. */
  private async wentWithOwner(jobId: string): Promise<boolean> {
    const removed = await this.history.findRemoved(end.queue, jobId);
    if (!removed?.cancelId) return false;
    const receipt = await this.owners.receipt(removed.cancelId);
    return receipt !== undefined && receipt.job === undefined;
  }

  private async isPending(jobId: string): Promise<boolean> {
    const job = await this.jobs.read(jobId);
    return job !== undefined && PENDING.includes(job.state);
  }
}

const UNWANTED = { reason: 'the lease was refused', by: 'containers' } as const;
