import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { LeaseRepository } from '../leases.repository.js';
import { LeaseMoorings } from './lease.moorings.js';
import { LeaseReaper } from './lease.reaper.js';

/** So many at once: those that hang take their place here, and leave the others theirs. */
const AT_ONCE = 64;

/**
 * Comes to every lease whose time is over, whether or not a worker did, and finishes what others left half-done: jobs that were
 * not sent, ends that failed or whose process died, jobs that hang on a lease that is over. Any number of processes may.
 */
@Injectable()
export class LeaseCare implements BeforeApplicationShutdown {
  private readonly log = new Logger('Leases');
  private readonly underWay = new Map<string, Promise<void>>();
  private readonly closing = new AbortController();

  constructor(
    private readonly leases: LeaseRepository,
    private readonly moorings: LeaseMoorings,
    private readonly reaper: LeaseReaper,
  ) {}

  /** How many were come to. Nobody waits for their ends: one that hangs keeps no other waiting. */
  async tendOnce(): Promise<number> {
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
    const done = this.tendWhileOpen(id)
      .catch((error: Error) => {
        if (!this.closing.signal.aborted) this.log.warn(`Lease ${id} is looked at again: ${error.message}`);
      })
      .finally(() => this.underWay.delete(id));
    this.underWay.set(id, done);
  }

  /** Each with a signal of its own: what is derived from one that lasts as long as the process is kept as long. */
  private async tendWhileOpen(id: string): Promise<void> {
    const { signal } = this.closing;
    const mine = new AbortController();
    const abort = (): void => mine.abort();
    signal.addEventListener('abort', abort);
    try {
      await this.tend(id, mine.signal);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  private async tend(id: string, signal: AbortSignal): Promise<void> {
    const { outcome } = await this.reaper.end(id, signal);
    if (outcome === 'early') await this.sendIfNobodyDid(id);
    else if (outcome !== 'again') await this.reaper.tidy(id);
  }

  private async sendIfNobodyDid(id: string): Promise<void> {
    const lease = await this.leases.find(id);
    if (lease && !lease.jobs) await this.moorings.send(lease);
  }
}
