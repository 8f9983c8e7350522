import {
  IdempotencyConflictError,
  InvalidJobError,
  OwnerClosedError,
  Owners,
  parseOwner,
  QueueFullError,
} from '#core';
import { receiptOf } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { formatDuration } from '#durations';
import { digestOf } from './lease-keys.js';
import { leaseOwner } from './lease-kinds.js';
import { allows } from './images.js';
import { LeaseTerminator } from './lease-terminator.js';
import type { LeaseRecord, LeaseState } from './lease.js';
import { LeaseJobs } from './lease-jobs.js';
import { LeaseOverError, LeasesFullError, NotForCleanupError, UnknownLeaseError } from './lease-errors.js';
import { LeaseRepository, type ChangeAnswer, type LeasePage } from './lease-repository.js';

const PAGE = 100;
/** Bounds for Retry-After: the next deadline, within reason. */
const SOONEST_MS = 1_000;
const LATEST_MS = 60_000;

/** Limits for new leases. */
export abstract class LeaseLimits {
  /** An image without a tag allows all its tags. */
  abstract readonly images: readonly string[];
  abstract readonly longestMs: number;
  /** Limit on concurrent leases. */
  abstract readonly places: number;
}

export interface LeaseOrder {
  readonly image: string;
  readonly livesMs: number;
  readonly owner?: string | undefined;
}

/**
 * Operations on leases. The repository decides in one script; jobs follow. If the process dies in between,
 * the lease stays due and the reconciler (reaper/lease-reconciler.ts) repeats the second step.
 */
@Injectable()
export class Leases {
  constructor(
    private readonly limits: LeaseLimits,
    private readonly leases: LeaseRepository,
    private readonly jobs: LeaseJobs,
    private readonly terminator: LeaseTerminator,
    private readonly owners: Owners,
  ) {}

  /** Idempotent by key for as long as the lease can be read. */
  async ask(order: LeaseOrder, idempotencyKey?: string): Promise<LeaseRecord> {
    this.check(order);
    const key = idempotencyKey === undefined ? '' : digestOf(idempotencyKey);
    const newLease = { id: randomUUID(), owner: undefined, ...order, key };
    const [word, what] = await this.leases.create(newLease, this.limits.places);
    if (word === 'full') throw new LeasesFullError(this.limits.places, retryAfter(Number(what)));
    const id = what ?? newLease.id;
    const lease = await this.read(id);
    if (!isFor(lease, order)) throw new IdempotencyConflictError();
    // An existing lease is being sent by its creator or by the reconciler.
    if (word === 'created') await this.send(lease);
    return this.read(id);
  }

  async read(id: string): Promise<LeaseRecord> {
    const lease = await this.leases.find(id);
    if (!lease) throw new UnknownLeaseError();
    return lease;
  }

  list(state: LeaseState | undefined, cursor: string | undefined): Promise<LeasePage> {
    return this.leases.list(state, cursor, PAGE);
  }

  async renew(id: string, livesMs: number): Promise<LeaseRecord> {
    this.checkDuration(livesMs);
    return this.changed(id, await this.leases.renew(id, livesMs));
  }

  async delete(id: string, by: string): Promise<LeaseRecord> {
    if (!(await this.terminator.close(id, 'deleted', by === '' ? 'deleted' : `deleted by ${by}`)))
      throw new UnknownLeaseError();
    return this.read(id);
  }

  /** Starts again with the first attempt. The janitor does it, because the lease's own jobs are over. */
  async cleanUp(id: string): Promise<LeaseRecord> {
    return this.changed(id, await this.leases.again(id));
  }

  /**
   * For an operator who knows that the container went with its engine, once no attempt found a process with
   * that engine.
   */
  async release(id: string): Promise<LeaseRecord> {
    return this.changed(id, await this.leases.release(id));
  }

  private async changed(id: string, [word, state = '']: ChangeAnswer): Promise<LeaseRecord> {
    switch (word) {
      case 'renewed':
      case 'ending':
      case 'ended':
        return this.read(id);
      case 'over':
        throw new LeaseOverError(state);
      case 'refused':
        throw new NotForCleanupError(`The lease is ${state}: ${ONLY_MANUAL}`);
      case 'there':
        throw new NotForCleanupError(`Its engine was there when it was last tried: ${BY_HAND}`);
      case 'unknown':
        throw new UnknownLeaseError();
    }
  }

  private check({ image, livesMs, owner }: LeaseOrder): void {
    const { images } = this.limits;
    if (!allows(images, image))
      throw new InvalidJobError(`image is none of those that may be leased: ${images.join(', ')}.`);
    this.checkDuration(livesMs);
    if (owner !== undefined) parseOwner(owner);
  }

  private checkDuration(livesMs: number): void {
    const { longestMs } = this.limits;
    if (livesMs < 1 || livesMs > longestMs)
      throw new InvalidJobError(`duration is at most ${formatDuration(longestMs)}, and not nothing.`);
  }

  /**
   * A refusal drops the lease as a whole. After any other failure it is unknown which jobs exist, and the
   * reconciler sends the rest.
   */
  private async send(lease: LeaseRecord): Promise<void> {
    try {
      await this.jobs.send(lease);
    } catch (error) {
      const isRefusal = error instanceof QueueFullError || error instanceof OwnerClosedError;
      if (!isRefusal || (await this.refuse(lease.id))) throw error;
    }
  }

  /**
   * False if the reconciler has sent the jobs in between, and the container is being created or the lease is
   * over.
   */
  private async refuse(id: string): Promise<boolean> {
    if (!(await this.leases.drop(id))) return false;
    const why = { reason: 'the lease was refused', by: 'containers', close: false };
    await receiptOf(this.owners.cancel(leaseOwner(id), why));
    return true;
  }
}

const ONLY_MANUAL = 'only one that is manual-cleanup is cleaned up on demand.';
const BY_HAND = 'remove the container, and the next sweep sees it.';

function retryAfter(freeInMs: number): number {
  return Math.min(LATEST_MS, Math.max(SOONEST_MS, freeInMs));
}

function isFor(lease: LeaseRecord, { image, livesMs, owner }: LeaseOrder): boolean {
  return lease.image === image && lease.livesMs === livesMs && lease.owner === owner;
}
