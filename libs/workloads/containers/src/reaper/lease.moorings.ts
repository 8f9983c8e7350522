import { Canceller, JobReader, OwnerClosedError, Removals } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { LeaseClosing } from '../lease.closing.js';
import type { Ending, LeaseRecord } from '../lease.js';
import { LeaseSending } from '../lease.sending.js';

const PENDING: readonly string[] = ['waiting', 'delayed', 'running', 'retrying'];

/** What is to be done about a lease because of what became of its jobs. */
export type Loose = { readonly how: Exclude<Ending, 'expired'>; readonly why: string } | 'send';

/** What a lease hangs on: its jobs are its owners', and go with them. Nothing depends on having heard of it. */
@Injectable()
export class LeaseMoorings {
  constructor(
    private readonly jobs: JobReader,
    private readonly removals: Removals,
    private readonly canceller: Canceller,
    private readonly sending: LeaseSending,
    private readonly closing: LeaseClosing,
  ) {}

  /** Nothing, when it hangs on all it should. */
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
    else await this.closing.close(lease.id, loose.how, loose.why);
  }

  /** Or ends it, when its owner takes no jobs. */
  async send(lease: LeaseRecord): Promise<void> {
    try {
      await this.sending.send(lease);
    } catch (error) {
      if (!(error instanceof OwnerClosedError)) throw error;
      const how = error.owner === lease.owner ? 'owner' : 'cancelled';
      await this.closing.close(lease.id, how, `${error.owner} is closed`);
    }
  }

  /** Somebody who takes away one job has not said that its owner is gone. */
  private async wentWithOwner(jobId: string): Promise<boolean> {
    const removal = await this.removals.find(jobId);
    if (removal?.why === 'orphan') return true;
    if (removal?.why !== 'cancelled' || removal.cancelId === undefined) return false;
    const receipt = await this.canceller.receipt(removal.cancelId);
    return receipt !== undefined && receipt.job === undefined;
  }

  private async isPending(jobId: string): Promise<boolean> {
    const job = await this.jobs.read(jobId);
    return job !== undefined && PENDING.includes(job.state);
  }
}
