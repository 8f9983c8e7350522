import { Canceller, formatOwner, Journal, LifecycleError, reason } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { leaseOwner } from '../containers.kinds.js';
import { ContainerRemoval } from '../containers.removal.js';
import { isIn } from '../engine.place.js';
import { ContainerEngine } from '../engines/container.engine.js';
import { inFew, type LeaseRecord, type LeaseState } from '../lease.js';
import { LeaseRepository, type Claim } from '../leases.repository.js';

/** How long an attempt may take, and how long it is somebody's: what hangs delays its own lease, and no other. */
const ATTEMPT_MS = 10_000;
const HOLD_MS = 12_000;
/** How often is looked for a container that may still come to be. */
const STILL_COMING_MS = 1_000;
/** How long one is left to whoever has its engine. */
const FOR_OTHERS_MS = 2_000;
/** Over for so long, and with an engine that nobody has, it is for people. */
const ABANDONED_MS = 300_000;

export type EndOutcome =
  | { readonly outcome: 'ended'; readonly state: LeaseState }
  | { readonly outcome: 'over' | 'manual' }
  | { readonly outcome: 'early'; readonly forMs: number }
  | { readonly outcome: 'again'; readonly forMs: number; readonly why: string };

/**
 * Ends leases, each in its order: stop, remove, record, lease. Every step may be done twice, so that whoever dies in between is
 * followed by another who begins again. It is safe for any number of processes to try.
 */
@Injectable()
export class LeaseReaper {
  constructor(
    private readonly leases: LeaseRepository,
    private readonly engine: ContainerEngine,
    private readonly removal: ContainerRemoval,
    private readonly canceller: Canceller,
    private readonly journal: Journal,
  ) {}

  /** One attempt, if the lease is to end and nobody else is at it. `isForced`: also of one that was given up. */
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
   * What hangs on a lease that is over goes with it: jobs that were anybody's for it, and the one that its owner had. A job of the
   * lease may have ended it, and is to have ended itself: this is left to the care. Of one that is for people what was to be done
   * in its container is over as well, however long that will be there.
   */
  async tidy(id: string): Promise<void> {
    const lease = await this.leases.find(id);
    if (lease && lease.state !== 'manual-cleanup') {
      const step = { leaseId: id, containerId: lease.containerId ?? '', attempt: 1 };
      await this.removal.act(step, 'lease', () => this.cancelJobs(lease));
    } else if (lease) await this.cancelJobs(lease);
    await this.leases.tidied(id);
  }

  private async cancelJobs(lease: LeaseRecord): Promise<void> {
    const why = { reason: inFew(`the lease has ended: ${lease.why ?? lease.endedBy}`), by: 'containers' };
    if (lease.jobs?.moor) await this.canceller.cancelJob(lease.jobs.moor, why);
    await this.canceller.cancel(leaseOwner(lease.id), why);
  }

  private async attempt(id: string, claim: Claim, signal: AbortSignal): Promise<EndOutcome> {
    const place = claim.made?.engine;
    if (place !== undefined && !isIn(place, this.engine))
      return this.leave(id, claim, `its engine is ${place}, which this process does not have`);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_MS)]);
    try {
      if (await this.clear(id, claim, limit)) return await this.finish(id, claim);
    } catch (error) {
      // A store that is away has said nothing of the container. The hold ends by itself.
      if (error instanceof LifecycleError) throw error;
      if (!signal.aborted) return this.strike(id, claim, error);
      await this.leases.rest(id, claim, 0);
      throw error;
    }
    return this.putOff(
      id,
      claim,
      Math.min(claim.makingMs!, STILL_COMING_MS),
      'its container may still come to be',
    );
  }

  /** To whoever has its engine; once nobody has come for long, to people. */
  private leave(id: string, claim: Claim, why: string): Promise<EndOutcome> {
    return claim.overForMs < ABANDONED_MS
      ? this.putOff(id, claim, FOR_OTHERS_MS, why)
      : this.strike(id, claim, why, true);
  }

  /** At no attempt. */
  private async putOff(id: string, claim: Claim, forMs: number, why: string): Promise<EndOutcome> {
    await this.leases.rest(id, claim, forMs);
    return { outcome: 'again', forMs, why };
  }

  /** Whether nothing of it runs, for sure. */
  private async clear(id: string, claim: Claim, signal: AbortSignal): Promise<boolean> {
    const { made, makingMs, attempt, onlyLooks } = claim;
    if (!made && makingMs === undefined) return true;
    const container = await this.removal.find(id, made, signal, Boolean(makingMs));
    if (!container) return !makingMs;
    if (onlyLooks) throw new Error('Its container is still there.');
    await this.removal.remove(container, id, attempt, signal);
    if (await this.removal.find(id, made, signal, Boolean(makingMs)))
      throw new Error('Its container was removed, and is still there.');
    // Whoever was about to start this one may make another yet.
    return !makingMs;
  }

  /** The record says that it is over; other services are told first: who dies in between is followed by one who tells them again, under the same id. */
  private async finish(id: string, claim: Claim): Promise<EndOutcome> {
    const step = { leaseId: id, containerId: claim.made?.id ?? '', attempt: claim.attempt };
    if (claim.how === 'expired') this.sayExpired(id, step.containerId);
    const beganAt = performance.now();
    const [word, state] = await this.leases.ended(id, claim);
    if (word === 'overtaken') return { outcome: 'over' };
    this.removal.say(step, 'record', 'done', beganAt);
    return { outcome: 'ended', state: state as LeaseState };
  }

  private async strike(id: string, claim: Claim, error: unknown, isLost = false): Promise<EndOutcome> {
    const why = inFew(reason(error));
    const [word, forMs] = await this.leases.strike(id, claim, why, isLost);
    switch (word) {
      case 'again':
        return { outcome: 'again', forMs: Number(forMs), why };
      case 'overtaken':
        return { outcome: 'over' };
      case 'manual':
        this.sayGivenUp(id, claim, why);
        return { outcome: 'manual' };
      case 'still':
        return { outcome: 'manual' };
    }
  }

  private sayExpired(leaseId: string, containerId: string): void {
    this.journal.workload({
      what: 'lease.expired',
      owner: formatOwner(leaseOwner(leaseId)),
      status: 'done',
      newsId: `lease.expired:${leaseId}`,
      facts: { leaseId, containerId },
    });
  }

  private sayGivenUp(leaseId: string, { attempt, made }: Claim, why: string): void {
    this.journal.workload({
      what: 'lease.manual-cleanup',
      owner: formatOwner(leaseOwner(leaseId)),
      status: 'failed',
      facts: { leaseId, containerId: made?.id ?? '', attempt, why },
    });
  }
}
