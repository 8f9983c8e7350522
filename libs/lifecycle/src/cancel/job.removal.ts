import { Injectable } from '@nestjs/common';
import type { ParentKeys } from 'bullmq';
import { Admission } from '../enqueue/admission.js';
import { Slots } from '../gate/slots.js';
import { Removals, type Removal } from '../history/removals.js';
import {
  CLOSED_KEEP_MS,
  digest,
  HISTORY_KEEP_MS,
  HISTORY_LINES,
  Keys,
  PLACE_GRACE_MS,
  RECORD_KEEP_MS,
} from '../keys.js';
import { openEnvelope, type Envelope } from '../kinds/envelope.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { runScript } from '../scripts.js';
import { Endings } from '../settle/endings.js';
import { Store } from '../store.js';
import { FoundJobs, stateWord, type FoundJob } from './found.jobs.js';
import { readPlace, type Place } from './places.js';
import type { Receipt } from './receipts.js';

/** Jobs of one cancel: which epochs it ended, and what its receipt says of it. */
export interface Cancelled {
  readonly receipt: Pick<Receipt, 'cancelId' | 'owner' | 'reason' | 'by'>;
  /** Up to which epoch; 0 for a single job. */
  readonly upTo: number;
  /** The store's time at the start of this pass, ms. */
  readonly now: number;
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
    options: LifecycleOptions,
    private readonly store: Store,
    private readonly found: FoundJobs,
    private readonly removals: Removals,
    private readonly endings: Endings,
    private readonly slots: Slots,
    private readonly admission: Admission,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  /** One try at each; answers how many are left. */
  async removeAll(places: readonly Place[], cancelled: Cancelled): Promise<number> {
    const fates = new Map<string, Promise<Fate>>();
    const dropped: Dropped[] = [];
    const answers = await Promise.all(
      places.map((place) => this.removeOnce(place, cancelled, fates, dropped)),
    );
    if (dropped.length > 0) await this.drop(dropped, cancelled);
    return answers.filter((fate) => fate === 'left').length;
  }

  private removeOnce(
    place: Place,
    cancelled: Cancelled,
    fates: Map<string, Promise<Fate>>,
    dropped: Dropped[],
  ): Promise<Fate> {
    let fate = fates.get(place.jobId);
    if (!fate) {
      fate = this.remove(place, cancelled, fates, dropped);
      fates.set(place.jobId, fate);
    }
    return fate;
  }

  private async remove(
    place: Place,
    cancelled: Cancelled,
    fates: Map<string, Promise<Fate>>,
    dropped: Dropped[],
  ): Promise<Fate> {
    const found = await this.found.find(place.jobId);
    const { jobId, job, state } = found;
    switch (state) {
      case 'active':
        // Its run is told to stop, or is refused at the gate.
        return 'left';
      case 'completed':
      case 'failed':
        dropped.push({ jobId, counts: '', dedup: '', line: '' });
        return 'gone';
      case 'unknown': {
        // Its producer may be about to add it.
        if (!place.hasBegun && cancelled.now - place.wantedAt < PLACE_GRACE_MS) return 'left';
        const removal = removalOf(found, undefined, cancelled);
        await this.store.call(() => this.removals.note([removal]));
        dropped.push(dropOf(found, undefined, removal));
        return 'gone';
      }
      default:
    }
    const parentFate = job?.parent ? await this.fateOfParent(job.parent, cancelled, fates, dropped) : 'gone';
    if (parentFate === 'left') {
      await this.handToGate(found);
      return 'left';
    }
    const envelope = envelopeOf(found);
    const removal = removalOf(found, envelope, cancelled);
    await this.store.call(() => this.removals.note([removal]));
    if (envelope) await this.leaveElsewhere(jobId, envelope, cancelled);
    const isRemoved = await this.store.call(() => found.queue.remove(jobId, { removeChildren: false }));
    // A worker has just taken it: the gate refuses it.
    if (isRemoved === 0) return 'left';
    if (state !== 'waiting-children') this.admission.leave(found.queue.name);
    dropped.push(dropOf(found, envelope, removal));
    return 'gone';
  }

  /**
   * Of a parent that was cancelled too: it goes first. One that lives on gets its child's cancellation as a failure, by
   * way of the gate.
   */
  private async fateOfParent(
    { id = '' }: ParentKeys,
    cancelled: Cancelled,
    fates: Map<string, Promise<Fate>>,
    dropped: Dropped[],
  ): Promise<Fate> {
    const record = this.keys.ownerText(cancelled.receipt.owner);
    const entry = await this.store.call(() => this.store.redis.hget(record, `j${id}`));
    const place = entry === null ? undefined : readPlace(id, entry);
    if (place && place.epoch <= cancelled.upTo) return this.removeOnce(place, cancelled, fates, dropped);
    const { state } = await this.found.find(id);
    return state === 'unknown' ? 'gone' : 'left';
  }

  /** It is refused there in its turn; a delayed one comes now. */
  private async handToGate({ job, state }: FoundJob): Promise<void> {
    if (state === 'delayed') await this.store.call(() => job!.promote().catch(ifNoLongerDelayed));
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

  private async drop(dropped: readonly Dropped[], { receipt, upTo }: Cancelled): Promise<void> {
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
    await this.store.call(() => runScript(this.store.redis, 'drop', [record], [...head, ...jobs]));
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
    why: 'cancelled',
    reason,
    by,
    cancelId,
  };
}

/** One that is corrupt is removed all the same. */
function envelopeOf({ job }: FoundJob): Envelope | undefined {
  try {
    return job && openEnvelope(job);
  } catch {
    return undefined;
  }
}

function ifNoLongerDelayed(error: Error): void {
  if (!/delayed|Missing/i.test(error.message)) throw error;
}
