import { OwnerClosedError, Owners } from '#core';
import { JobHistory, JobReader } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { end } from '../lease-kinds.js';
import { LeaseTerminator } from '../lease-terminator.js';
import type { Ending, LeaseRecord } from '../lease.js';
import { LeaseJobSender } from '../lease-job-sender.js';

const PENDING: readonly string[] = ['waiting', 'delayed', 'running', 'retrying'];

/** Repair for a lease whose jobs are missing or were removed with an owner. */
export type Loose = { readonly how: Exclude<Ending, 'expired'>; readonly why: string } | 'send';

/**
 * Checks the jobs that tie a lease to its owners: they are removed with the owner. This detects a cancelled
 * owner even if its event was lost.
 */
@Injectable()
export class LeaseJobLinks {
  constructor(
    private readonly jobs: JobReader,
    private readonly history: JobHistory,
    private readonly owners: Owners,
    private readonly sender: LeaseJobSender,
    private readonly terminator: LeaseTerminator,
  ) {}

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
    if (loose === 'send') await this.send(lease);
    else await this.terminator.close(lease.id, loose.how, loose.why);
  }

  /** Sends the jobs, or ends the lease if its owner is closed. */
  async send(lease: LeaseRecord): Promise<void> {
    try {
      await this.sender.send(lease);
    } catch (error) {
      if (!(error instanceof OwnerClosedError)) throw error;
      const how = error.owner === lease.owner ? 'owner' : 'cancelled';
      await this.terminator.close(lease.id, how, `${error.owner} is closed`);
    }
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
