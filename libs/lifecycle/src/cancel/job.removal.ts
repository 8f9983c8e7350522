import { Injectable } from '@nestjs/common';
import type { ParentKeys } from 'bullmq';
import { Admission } from '../enqueue/admission.js';
import { Slots } from '../gate/slots.js';
import { Removals, type Removal } from '../history/removals.js';
import { Journal } from '../journal.js';
import {
  CLOSED_KEEP_MS,
  digest,
  HISTORY_KEEP_MS,
  HISTORY_LINES,
  Keys,
  PLACE_GRACE_MS,
  RECORD_KEEP_MS,
} from '../keys.js';
import type { Envelope } from '../kinds/envelope.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { runScript } from '../scripts.js';
import { Endings } from '../settle/endings.js';
import { Store } from '../store.js';
import { envelopeOf, FoundJobs, stateWord, type FoundJob } from './found.jobs.js';
import { readPlace, type Place } from './places.js';
import type { Cause } from './receipts.js';

/** Jobs of one cancel: which epochs it ended, and what its receipt says of it. */
export interface Cancelled {
  readonly receipt: Cause;
  /** Up to which epoch; 0 for a single job. */
  readonly upTo: number;
  /** The store's time at the start of this pass, ms. */
  readonly now: number;
}

/** One try at the jobs of a page: what became of each, and what leaves the index at its end. */
interface Pass extends Cancelled {
  readonly fates: Map<string, Promise<Fate>>;
  readonly dropped: Dropped[];
}

/** What became of a job: nothing is left of it, or something is, for now. */
type Fate = 'gone' | 'left';

interface Dropped {
  readonly jobId: string;
  readonly counts: string;
  readonly dedup: string;
  readonly line: string;
}

/**
 * Takes cancelled jobs out of their queues and out of the index: parents before their children, since a parent whose last
 * child is removed would be let go. The order makes a crash harmless: why it is removed, its places with other owners, the
 * job, and last the place that leads here, counted in the same step.
 */
@Injectable()
export class JobRemoval {
  private readonly keys: Keys;

  constructor(
    private readonly options: LifecycleOptions,
    private readonly store: Store,
    private readonly found: FoundJobs,
    private readonly removals: Removals,
    private readonly endings: Endings,
    private readonly slots: Slots,
    private readonly admission: Admission,
    private readonly journal: Journal,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  /** One try at each; answers how many are left. */
  async removeAll(places: readonly Place[], cancelled: Cancelled): Promise<number> {
    const pass: Pass = { ...cancelled, fates: new Map(), dropped: [] };
    const fates = await Promise.allSettled(places.map((place) => this.removeOnce(place, pass)));
    const left = fates.filter((fate) => fate.status === 'rejected' || fate.value === 'left').length;
    // What could be taken out leaves now; one that could not must not hold up the others.
    const leaving = pass.dropped.length - (await this.drop(pass));
    const trouble = fates.find((fate) => fate.status === 'rejected');
    if (trouble) this.journal.queueError('cancels', trouble.reason);
    // A run that has ended and not yet let go keeps its job's place: the next pass sees.
    return left + leaving;
  }

  private removeOnce(place: Place, pass: Pass): Promise<Fate> {
    let fate = pass.fates.get(place.jobId);
    if (!fate) {
      fate = this.remove(place, pass);
      pass.fates.set(place.jobId, fate);
    }
    return fate;
  }

  private async remove(place: Place, pass: Pass): Promise<Fate> {
    const found = await this.found.find(place.jobId);
    const { jobId, job, state } = found;
    // Its run is told to stop, or is refused at the gate. One whose worker died is removed as one that waits, once its
    // lock is over: BullMQ would put it back, but not in a full store.
    if (state === 'active' && (await this.isHeld(place, pass))) return 'left';
    if (state === 'completed' || state === 'failed') {
      // Its worker may have died before it could let go of its places elsewhere. Refused at the gate before it began, it
      // is still named as its key's pending one.
      const envelope = envelopeOf(found);
      if (envelope) await this.leaveElsewhere(jobId, envelope, pass);
      pass.dropped.push({ jobId, counts: '', dedup: envelope?.d ?? '', line: '' });
      return 'gone';
    }
    // Its producer may be about to add it.
    const mayCome = !place.hasBegun && pass.now - place.wantedAt < PLACE_GRACE_MS;
    if (state === 'unknown' && mayCome) return 'left';
    if (job?.parent && (await this.fateOfParent(job.parent, pass)) === 'left') {
      await this.found.handToGate(found);
      return 'left';
    }
    return this.takeOut(found, place, pass);
  }

  private async isHeld({ jobId, token }: Place, { receipt, now }: Pass): Promise<boolean> {
    const runs = `${this.keys.ownerText(receipt.owner)}:runs`;
    const leaseEnd = await this.store.call(() => this.store.redis.zscore(runs, `${jobId}|${token}`));
    // Without a lease its worker is at the gate, or just ends it: that end is to be seen, not removed.
    return leaseEnd === null || Number(leaseEnd) > now;
  }

  /** From its queue, or what is left of one that is in none. */
  private async takeOut(found: FoundJob, { hasBegun }: Place, pass: Pass): Promise<Fate> {
    const { jobId, state } = found;
    // One that is corrupt is removed all the same.
    const envelope = envelopeOf(found);
    const removal = await this.removal(found, envelope, pass);
    if (envelope) await this.leaveElsewhere(jobId, envelope, pass);
    // Before the job: should it fail, the job is left for the next pass, and leads there.
    if (hasBegun) await this.options.artifacts?.removeAll(jobId);
    if (state !== 'unknown') {
      const isRemoved = await this.store.call(() => found.queue.remove(jobId, { removeChildren: false }));
      // A worker has just taken it: the gate refuses it.
      if (isRemoved === 0) return 'left';
      if (state !== 'active') this.admission.leave(found.queue.name);
    }
    pass.dropped.push(dropOf(found, envelope, removal));
    return 'gone';
  }

  /** Why it goes, noted before it does. One that is gone was noted by whoever removed it, and did not come to drop it. */
  private async removal(found: FoundJob, envelope: Envelope | undefined, pass: Pass): Promise<Removal> {
    const noted = found.state === 'unknown' ? await this.removals.find(found.jobId) : undefined;
    if (noted?.cancelId === pass.receipt.cancelId) return noted;
    const removal = removalOf(found, envelope, pass);
    await this.store.call(() => this.removals.note(removal));
    return removal;
  }

  /**
   * Of a parent that was cancelled too: it goes first. One that lives on gets its child's cancellation as a failure, by
   * way of the gate.
   */
  private async fateOfParent({ id = '' }: ParentKeys, pass: Pass): Promise<Fate> {
    const record = this.keys.ownerText(pass.receipt.owner);
    const entry = await this.store.call(() => this.store.redis.hget(record, `j${id}`));
    const place = entry === null ? undefined : readPlace(id, entry);
    if (place && place.epoch <= pass.upTo) return this.removeOnce(place, pass);
    const { state } = await this.found.find(id);
    return state === 'unknown' ? 'gone' : 'left';
  }

  /** Its places with its other owners, and in line for its slot. */
  private async leaveElsewhere(jobId: string, envelope: Envelope, { receipt }: Cancelled): Promise<void> {
    const others = envelope.o
      .map((owner, i) => [owner, envelope.e[i]!] as const)
      .filter(([owner]) => owner !== receipt.owner);
    const isPrimaryAmong = others[0]?.[0] === envelope.o[0];
    await this.store.call(async () => {
      if (others.length > 0)
        await this.endings.end({
          jobId,
          token: '',
          leaves: true,
          owners: others.map(([owner]) => owner),
          epochs: others.map(([, epoch]) => epoch),
          dedup: isPrimaryAmong ? (envelope.d ?? '') : '',
        });
      if (envelope.s) await this.slots.quit({ envelope, jobId });
    });
  }

  /** Answers how many have left by it. */
  private async drop({ dropped, receipt, upTo }: Pass): Promise<number> {
    if (dropped.length === 0) return 0;
    const record = this.keys.ownerText(receipt.owner);
    const head = [
      '',
      RECORD_KEEP_MS,
      CLOSED_KEEP_MS,
      digest(receipt.cancelId),
      upTo,
      HISTORY_LINES,
      HISTORY_KEEP_MS,
    ];
    const jobs = dropped.flatMap(({ jobId, counts, dedup, line }) => [jobId, counts, dedup, line]);
    return (await this.store.call(() =>
      runScript(this.store.redis, 'drop', [record], [...head, ...jobs]),
    )) as number;
  }
}

function dropOf(found: FoundJob, envelope: Envelope | undefined, removal: Removal): Dropped {
  return {
    jobId: found.jobId,
    counts: `${found.queue.name}|${removal.state}`,
    dedup: envelope?.d ?? '',
    line: JSON.stringify(removal),
  };
}

function removalOf(found: FoundJob, envelope: Envelope | undefined, { receipt, now }: Cancelled): Removal {
  const { cancelId, reason, by } = receipt;
  return {
    id: found.jobId,
    queue: found.queue.name,
    ...(found.job && { kind: found.job.name }),
    ...(envelope && { owners: envelope.o }),
    state: stateWord(found),
    at: new Date(now).toISOString(),
    why: receipt.why,
    reason,
    by,
    cancelId,
  };
}
