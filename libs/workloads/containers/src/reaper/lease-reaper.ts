import { MooringError, Owners } from '#core';
import { JobCanceller, Journal, receiptOf } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { leaseFact, leaseOwner } from '../lease-kinds.js';
import { ContainerRemover } from '../container-remover.js';
import { ContainerEngine } from '../engines/container-engine.js';
import { inFew, type Claim, type LeaseRecord, type LeaseState } from '../lease.js';
import { LeaseRepository } from '../lease-repository.js';

/** Time limit of an attempt and of its hold: a hanging attempt delays only its own lease. */
const ATTEMPT_MS = 10_000;
const HOLD_MS = 12_000;
/** Interval of checks for a container that may still appear. */
const STILL_COMING_MS = 1_000;
/** Pause while a process with the lease's engine may end it. */
const FOR_OTHERS_MS = 2_000;
/** A lease over for this long whose engine no process has needs manual clean-up. */
const ABANDONED_MS = 300_000;

export type EndOutcome =
  | { readonly outcome: 'ended'; readonly state: LeaseState }
  | { readonly outcome: 'over' | 'manual' }
  | { readonly outcome: 'early'; readonly forMs: number }
  | { readonly outcome: 'again'; readonly forMs: number; readonly why: string };

/**
 * Ends leases in order: stop, remove, record, lease. Every step is idempotent, so that another process may
 * start over after a crash. Any number of processes may try.
 */
@Injectable()
export class LeaseReaper {
  constructor(
    private readonly leases: LeaseRepository,
    private readonly engine: ContainerEngine,
    private readonly removal: ContainerRemover,
    private readonly owners: Owners,
    private readonly canceller: JobCanceller,
    private readonly journal: Journal,
  ) {}

  /**
   * Makes one attempt, if the lease is over and no other attempt is in progress. `isForced`: also for a lease
   * that was given up.
   */
  async end(id: string, signal: AbortSignal, isForced = false): Promise<EndOutcome> {
    const claimed = await this.leases.claim(id, HOLD_MS, isForced);
    switch (claimed.word) {
      case 'claimed':
        return this.attempt(id, claimed.claim, signal);
      case 'early':
        return { outcome: 'early', forMs: claimed.forMs };
      case 'later':
        return { outcome: 'again', forMs: claimed.forMs, why: 'the next attempt is not due' };
      case 'busy':
        return { outcome: 'again', forMs: claimed.forMs, why: 'somebody is at it' };
      case 'manual':
        return { outcome: 'manual' };
      case 'over':
      case 'unknown':
        return { outcome: 'over' };
    }
  }

  /**
   * Removes the remaining jobs of an ended lease, and its owner's job. The job that ended the lease may be
   * one of them and must end by itself first, so the reconciler does this. For a lease in manual
   * clean-up the work in the container is over too, however long the container remains.
   */
  async tidy(id: string): Promise<void> {
    const lease = await this.leases.find(id);
    if (lease && lease.state !== 'manual-cleanup') {
      const step = { leaseId: id, containerId: lease.containerId ?? '', attempt: 1 };
      await this.removal.act(step, 'lease', () => this.cancelJobs(lease));
    } else if (lease) await this.cancelJobs(lease);
    await this.leases.markTidied(id);
  }

  private async cancelJobs(lease: LeaseRecord): Promise<void> {
    const why = { reason: inFew(`the lease has ended: ${lease.why ?? lease.endedBy}`), by: 'containers' };
    if (lease.jobs?.moor) await receiptOf(this.canceller.cancel(lease.jobs.moor, why));
    await receiptOf(this.owners.cancel(leaseOwner(lease.id), why));
  }

  private async attempt(id: string, claim: Claim, signal: AbortSignal): Promise<EndOutcome> {
    const place = claim.made?.engine;
    if (place !== undefined && !(await this.engine.isAt(place)))
      return this.leave(id, claim, `its engine is ${place}, which this process does not have`);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_MS)]);
    try {
      if (await this.clear(id, claim, limit)) return await this.finish(id, claim);
    } catch (error) {
      // A store error says nothing about the container. The hold expires by itself.
      if (error instanceof MooringError) throw error;
      if (!signal.aborted) return this.strike(id, claim, (error as Error).message);
      await this.leases.rest(id, claim, 0);
      throw error;
    }
    return this.putOff(
      id,
      claim,
      Math.min(claim.makingMs!, STILL_COMING_MS),
      'its container may still appear',
    );
  }

  /** Leaves the lease to a process with its engine, and to manual clean-up once none has come for long. */
  private leave(id: string, claim: Claim, why: string): Promise<EndOutcome> {
    return claim.overForMs < ABANDONED_MS
      ? this.putOff(id, claim, FOR_OTHERS_MS, why)
      : this.strike(id, claim, why, true);
  }

  /** Postpones the lease without counting an attempt. */
  private async putOff(id: string, claim: Claim, forMs: number, why: string): Promise<EndOutcome> {
    await this.leases.rest(id, claim, forMs);
    return { outcome: 'again', forMs, why };
  }

  /** True once it is certain that nothing of the lease runs. */
  private async clear(id: string, claim: Claim, signal: AbortSignal): Promise<boolean> {
    const { made, makingMs, attempt, onlyLooks } = claim;
    if (!made && makingMs === undefined) return true;
    const container = await this.removal.find(id, made, signal, Boolean(makingMs));
    if (!container) return !makingMs;
    if (onlyLooks) throw new Error('Its container is still there.');
    await this.removal.remove(container, id, attempt, signal);
    if (await this.removal.find(id, made, signal, Boolean(makingMs)))
      throw new Error('Its container was removed, and is still there.');
    // The process that was about to start this container may still create another.
    return !makingMs;
  }

  /**
   * Announces the end before the record says so: if the process dies in between, the next attempt announces
   * it again under the same id.
   */
  private async finish(id: string, claim: Claim): Promise<EndOutcome> {
    const step = { leaseId: id, containerId: claim.made?.id ?? '', attempt: claim.attempt };
    const newsId = `lease.expired:${id}`;
    const { containerId } = step;
    if (claim.how === 'expired')
      this.journal.tell({ ...leaseFact('lease.expired', id, 'done', { containerId }), newsId });
    const beganAt = performance.now();
    const [word, state] = await this.leases.ended(id, claim);
    if (word === 'overtaken') return { outcome: 'over' };
    this.removal.say(step, 'record', 'done', beganAt);
    return { outcome: 'ended', state: state as LeaseState };
  }

  private async strike(id: string, claim: Claim, message: string, isLost = false): Promise<EndOutcome> {
    const why = inFew(message);
    const [word, forMs] = await this.leases.strike(id, claim, why, isLost);
    switch (word) {
      case 'again':
        return { outcome: 'again', forMs: Number(forMs), why };
      case 'overtaken':
        return { outcome: 'over' };
      case 'manual': {
        const facts = { containerId: claim.made?.id ?? '', attempt: claim.attempt, why };
        this.journal.tell(leaseFact('lease.manual-cleanup', id, 'failed', facts));
        return { outcome: 'manual' };
      }
      case 'still':
        return { outcome: 'manual' };
    }
  }
}
