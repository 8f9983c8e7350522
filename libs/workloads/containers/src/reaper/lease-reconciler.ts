import { Reconciler } from '#workload-kit';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { LeaseRepository } from '../lease-repository.js';
import { LeaseJobLinks } from './lease-job-links.js';
import { LeaseReaper } from './lease-reaper.js';

/** Concurrent leases. A hanging one occupies its place and no other. */
const AT_ONCE = 64;

/**
 * Ends every lease past its deadline, with or without workers, and finishes what a crashed process left: jobs
 * not sent, ends that failed or were interrupted, jobs of ended leases. Any number of processes may run it.
 */
@Injectable()
export class LeaseReconciler extends Reconciler implements BeforeApplicationShutdown {
  private readonly underWay = new Map<string, Promise<void>>();
  private readonly closing = new AbortController();

  constructor(
    private readonly leases: LeaseRepository,
    private readonly jobLinks: LeaseJobLinks,
    private readonly reaper: LeaseReaper,
  ) {
    super('Leases');
  }

  /** Returns the number of leases started. Does not wait for them, so that a hanging one delays no other. */
  async reconcileOnce(): Promise<number> {
    const free = AT_ONCE - this.underWay.size;
    if (free <= 0 || this.closing.signal.aborted) return 0;
    const ids = await this.leases.due(free);
    for (const id of ids) this.begin(id);
    return ids.length;
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.closing.abort();
    await Promise.all(this.underWay.values());
  }

  private begin(id: string): void {
    if (this.underWay.has(id)) return;
    const done = this.reconcileWhileOpen(id)
      .catch((error: Error) => {
        if (!this.closing.signal.aborted) this.log.warn(`Lease ${id} is checked again: ${error.message}`);
      })
      .finally(() => this.underWay.delete(id));
    this.underWay.set(id, done);
  }

  /** Each lease has its own signal, because signals derived from a process-wide one are never collected. */
  private async reconcileWhileOpen(id: string): Promise<void> {
    const { signal } = this.closing;
    const mine = new AbortController();
    const abort = (): void => mine.abort();
    signal.addEventListener('abort', abort);
    try {
      await this.reconcile(id, mine.signal);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  private async reconcile(id: string, signal: AbortSignal): Promise<void> {
    const { outcome } = await this.reaper.end(id, signal);
    if (outcome === 'early') await this.sendIfMissing(id);
    else if (outcome !== 'again') await this.reaper.tidy(id);
  }

  private async sendIfMissing(id: string): Promise<void> {
    const lease = await this.leases.find(id);
    if (lease && !lease.jobs) await this.jobLinks.send(lease);
  }
}
