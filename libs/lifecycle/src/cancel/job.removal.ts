import { Injectable } from '@nestjs/common';
import type { ParentKeys } from 'bullmq';
import { Admission } from '../enqueue/admission.js';
import { Removals, type Removal } from '../history/removals.js';
import { Journal } from '../journal.js';
import { CLOSED_KEEP_MS, digest, HISTORY_LINES, Keys, PLACE_GRACE_MS, RECORD_KEEP_MS } from '../keys.js';
import { factsOf, type Envelope } from '../kinds/envelope.js';
import type { JobFacts } from '../kinds/job-facts.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import { endedByCancel, envelopeOf, FoundJobs, stateWord, type FoundJob } from './found.jobs.js';
import { JobExits } from './job.exits.js';
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
  private readonly historyKeepMs: number;
  private readonly lockMs: number;

  constructor(
    private readonly options: LifecycleOptions,
    private readonly store: Store,
    private readonly found: FoundJobs,
    private readonly removals: Removals,
    private readonly exits: JobExits,
    private readonly admission: Admission,
    private readonly journal: Journal,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
    this.historyKeepMs = options.receiptKeepMs ?? LIFECYCLE_DEFAULTS.receiptKeepMs;
    this.lockMs = options.worker?.lockMs ?? LIFECYCLE_DEFAULTS.lockMs;
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
    const { job, state } = found;
    // Its run is told to stop, or is refused at the gate. One whose worker died is removed as one that waits, once its
    // lock is over: BullMQ would put it back, but not in a full store.
    if (state === 'active' && (await this.isHeld(found, place, pass))) return 'left';
    if (state === 'completed' || state === 'failed') return this.leaveEnded(found, pass);
    // Its producer may be about to add it.
    const mayCome = !place.hasBegun && pass.now - place.wantedAt < PLACE_GRACE_MS;
    if (state === 'unknown' && mayCome) return 'left';
    if (job?.parent && (await this.fateOfParent(job.parent, pass)) === 'left') {
      await this.found.handToGate(found);
      return 'left';
    }
    return this.takeOut(found, place, pass);
  }

  /**
   * It stays in its queue, for whoever asks how it ended. Its worker may have died before it could let go of its places
   * elsewhere. Refused at the gate before it began, it is still named as its key's pending one.
   */
  private async leaveEnded(found: FoundJob, pass: Pass): Promise<Fate> {
    const { jobId } = found;
    const envelope = envelopeOf(found);
    const how = endedByCancel(found);
    const line = how === 'refused' ? JSON.stringify(removalOf(found, envelope, pass, how)) : '';
    if (envelope) await this.leaveElsewhere(jobId, envelope, line, pass);
    // One that ran was told of it, most often, and counts as that.
    const counts = how ? `${found.queue.name}|${how}` : '';
    pass.dropped.push({ jobId, counts, dedup: envelope?.d ?? '', line });
    return 'gone';
  }

  private async isHeld({ job }: FoundJob, place: Place, { receipt, now }: Pass): Promise<boolean> {
    const { jobId, token, hasBegun } = place;
    const runs = `${this.keys.ownerText(receipt.owner)}:runs`;
    const leaseEnd = await this.store.call(() => this.store.redis.zscore(runs, `${jobId}|${token}`));
    if (leaseEnd !== null) return Number(leaseEnd) > now;
    // Without a lease its worker is at the gate, or just ends it: that end is to be seen, not removed. One that has not
    // come to the gate for so long may have died on the way; while its lock lives the removal does nothing.
    return hasBegun || now - (job?.processedOn ?? now) < this.lockMs;
  }

  /** From its queue, or what is left of one that is in none. */
  private async takeOut(found: FoundJob, { hasBegun }: Place, pass: Pass): Promise<Fate> {
    const { jobId, state } = found;
    // One that is corrupt is removed all the same.
    const envelope = envelopeOf(found);
    const removal = await this.removal(found, envelope, pass);
    if (envelope) await this.leaveElsewhere(jobId, envelope, JSON.stringify(removal), pass);
    // Before the job: should it fail, the job is left for the next pass, and leads there.
    if (hasBegun) await this.options.artifacts?.removeAll(jobId);
    if (state !== 'unknown') {
      const isRemoved = await this.store.call(() => found.queue.remove(jobId, { removeChildren: false }));
      // A worker has just taken it: the gate refuses it.
      if (isRemoved === 0) return 'left';
      if (state !== 'active' || !hasBegun) this.admission.leave(found.queue.name);
      this.journal.jobSkipped(factsFound(found, pass), 'cancelled', pass.receipt.reason, 'clean-up');
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
   * way of the gate; one that has ended waits for no child.
   */
  private async fateOfParent({ id = '' }: ParentKeys, pass: Pass): Promise<Fate> {
    const record = this.keys.ownerText(pass.receipt.owner);
    const entry = await this.store.call(() => this.store.redis.hget(record, `j${id}`));
    const place = entry === null ? undefined : readPlace(id, entry);
    if (place && place.epoch <= pass.upTo) return this.removeOnce(place, pass);
    const { state } = await this.found.find(id);
    return state === 'unknown' || state === 'completed' || state === 'failed' ? 'gone' : 'left';
  }

  /** Its places with its other owners, each with its line of history, and in line for its slot. */
  private async leaveElsewhere(
    jobId: string,
    envelope: Envelope,
    line: string,
    { receipt }: Cancelled,
  ): Promise<void> {
    const { o: owners, e: epochs, d: dedup = '' } = envelope;
    await Promise.all(
      owners.map(async (owner, i) => {
        if (owner === receipt.owner) return;
        await this.exits.leave(owner, epochs[i]!, jobId, line, i === 0 ? dedup : '');
      }),
    );
    await this.exits.quitLine(jobId, envelope);
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
      this.historyKeepMs,
    ];
    const jobs = dropped.flatMap(({ jobId, counts, dedup, line }) => [jobId, counts, dedup, line]);
    return (await this.store.call(() =>
      runScript(this.store.redis, 'drop', [record], [...head, ...jobs]),
    )) as number;
  }
}

/** One that is corrupt does not say itself. */
function factsFound({ job, jobId, queue }: FoundJob, { receipt }: Cancelled): JobFacts {
  return job ? factsOf(job) : { queue: queue.name, kind: '?', jobId, owner: receipt.owner };
}

function dropOf(found: FoundJob, envelope: Envelope | undefined, removal: Removal): Dropped {
  return {
    jobId: found.jobId,
    counts: `${found.queue.name}|${removal.state}`,
    dedup: envelope?.d ?? '',
    line: JSON.stringify(removal),
  };
}

function removalOf(
  found: FoundJob,
  envelope: Envelope | undefined,
  { receipt, now }: Cancelled,
  state = stateWord(found),
): Removal {
  const { cancelId, reason, by } = receipt;
  return {
    id: found.jobId,
    queue: found.queue.name,
    ...(found.job && { kind: found.job.name }),
    ...(envelope && { owners: envelope.o }),
    state,
    at: new Date(now).toISOString(),
    why: receipt.why,
    reason,
    by,
    cancelId,
  };
}
