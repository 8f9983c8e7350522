import { Reconciler } from '#workload-kit';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { LeaseRepository } from '../lease-repository.js';
import { LeaseJobs } from '../lease-jobs.js';
import { LeaseReaper } from './lease-reaper.js';

/** Each has its own signal, because signals derived from a process-wide one are never collected. */
interface Attempt {
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** Concurrent leases. A hanging one occupies its place and no other. */
const AT_ONCE = 64;

/**
 * Ends every lease past its deadline, with or without workers, and finishes what a crashed process left: jobs
 * not sent, ends that failed or were interrupted, jobs of ended leases. Any number of processes may run it.
 */
@Injectable()
export class LeaseReconciler extends Reconciler implements BeforeApplicationShutdown {
  private readonly underWay = new Map<string, Attempt>();

  constructor(
    private readonly leases: LeaseRepository,
    private readonly jobs: LeaseJobs,
    private readonly reaper: LeaseReaper,
  ) {
    super('Leases');
  }

  /** Returns the number of leases started. Does not wait for them, so that a hanging one delays no other. */
  async reconcileOnce(): Promise<number> {
    const free = AT_ONCE - this.underWay.size;
    if (free <= 0 || this.isEnding) return 0;
    const ids = await this.leases.due(free);
    for (const id of ids) this.begin(id);
    return ids.length;
  }

  async beforeApplicationShutdown(): Promise<void> {
    const attempts = [...this.underWay.values()];
    for (const { controller } of attempts) controller.abort();
    await Promise.all(attempts.map(({ done }) => done));
  }

  private begin(id: string): void {
    if (this.isEnding || this.underWay.has(id)) return;
    const controller = new AbortController();
    const done = this.reconcile(id, controller.signal)
      .catch((error: Error) => {
        if (!this.isEnding) this.log.warn(`Lease ${id} is checked again: ${error.message}`);
      })
      .finally(() => this.underWay.delete(id));
    this.underWay.set(id, { controller, done });
  }

  private async reconcile(id: string, signal: AbortSignal): Promise<void> {
    const { outcome } = await this.reaper.end(id, signal);
    if (outcome === 'early') await this.sendIfMissing(id);
    else if (outcome !== 'again') await this.reaper.tidy(id);
  }

  private async sendIfMissing(id: string): Promise<void> {
    const lease = await this.leases.find(id);
    if (lease && !lease.jobs) await this.jobs.sendOrEnd(lease);
  }
}
