import { Injectable } from '@nestjs/common';
import { envelopeOf, FoundJobs, removalOf, stateWord, type FoundJob } from '../cancel/found.jobs.js';
import { JobExits } from '../cancel/job.exits.js';
import { readPlace, type Place } from '../cancel/places.js';
import { Removals, type Removal } from '../history/removals.js';
import { Journal } from '../journal.js';
import { Keys, PLACE_GRACE_MS } from '../keys.js';
import type { Envelope } from '../kinds/envelope.js';
import { TOO_LATE } from '../kinds/outcome.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { ScriptBatch } from '../script-batch.js';
import { Store } from '../store.js';
import type { Deadline } from './deadlines.js';

/** What became of a job whose deadline was due: it went, is looked at again, or is nobody's affair any more. */
export type Fate =
  | { readonly kind: 'expired'; readonly state: string; readonly job: string }
  | { readonly kind: 'kept'; readonly againMs: number }
  | { readonly kind: 'over' };

const OVER: Fate = { kind: 'over' };
/** What is left to the gate is looked at again: soon at first, and as late as that when it goes on for long. */
const SOONEST_MS = 5_000;
const LATEST_MS = 60_000;

/**
 * Takes jobs that are too late out of their queues, and out of the index. The order makes a crash harmless: it is made
 * impossible that the job starts; why it goes; its other places; the job; and last its place with its primary owner.
 */
@Injectable()
export class ExpiredJobs {
  private readonly keys: Keys;
  private readonly expiring: ScriptBatch;

  constructor(
    private readonly options: LifecycleOptions,
    private readonly store: Store,
    private readonly found: FoundJobs,
    private readonly removals: Removals,
    private readonly exits: JobExits,
    private readonly journal: Journal,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
    this.expiring = new ScriptBatch(options.redis, 'expire', () => ['']);
  }

  /** In a dry run only said. */
  async look(deadline: Deadline, nowMs: number, dryRun: boolean): Promise<Fate> {
    const place = await this.placeOf(deadline);
    if (!place) return OVER;
    const dueMs = place.wantedAt + deadline.lifeMs;
    if (nowMs <= dueMs) return { kind: 'kept', againMs: dueMs };
    const found = await this.found.find(deadline.jobId);
    const later: Fate = { kind: 'kept', againMs: nowMs + bounded(nowMs - dueMs) };
    switch (found.state) {
      case 'completed':
      case 'failed':
        return OVER;
      case 'unknown':
        return this.finish(deadline, place, nowMs, later, dryRun);
      case 'active':
      case 'waiting-children':
        // The gate looks at the time, when it comes there.
        return later;
      case 'waiting':
      case 'prioritized':
      case 'delayed':
        return this.takeFromQueue(found, place, nowMs, later, dryRun);
    }
  }

  private async takeFromQueue(
    found: FoundJob,
    place: Place,
    nowMs: number,
    later: Fate,
    dryRun: boolean,
  ): Promise<Fate> {
    if (await this.hasParent(found)) {
      // It is to be its parent's failed child, which it becomes by way of the gate.
      if (!dryRun) await this.found.handToGate(found);
      return later;
    }
    const envelope = envelopeOf(found);
    if (envelope?.x === undefined) return OVER;
    if (dryRun) return fateOf(found);
    return this.end(found, envelope, place, nowMs, later);
  }

  private async placeOf({ jobId, owner }: Deadline): Promise<Place | undefined> {
    const record = this.keys.ownerText(owner);
    const text = await this.store.call(() => this.store.redis.hget(record, `j${jobId}`));
    const place = text === null ? undefined : readPlace(jobId, text);
    return place?.epoch === 0 ? undefined : place;
  }

  private async hasParent({ job }: FoundJob): Promise<boolean> {
    if (!job?.parent?.id) return false;
    return (await this.found.find(job.parent.id)).state !== 'unknown';
  }

  private async end(
    found: FoundJob,
    envelope: Envelope,
    { hasBegun }: Place,
    nowMs: number,
    later: Fate,
  ): Promise<Fate> {
    const { jobId } = found;
    const [word, dueMs] = await this.store.call(() =>
      this.expiring.ask(this.keys.ownerText(envelope.o[0]!), [
        jobId,
        envelope.e[0]!,
        envelope.x!,
        envelope.d ?? '',
      ]),
    );
    if (word === 'later') return { kind: 'kept', againMs: Number(dueMs) };
    if (word !== 'expired') return word === 'busy' ? later : OVER;

    const cause = { why: 'expired', reason: TOO_LATE, by: 'janitor' } as const;
    const removal = removalOf(found, envelope, nowMs, cause);
    await this.store.call(() => this.removals.note(removal));
    await this.exits.leaveOthers(jobId, envelope, JSON.stringify(removal));
    // Before the job: should it fail, the job is left for the next sweep, and leads there.
    if (hasBegun) await this.options.artifacts?.removeAll(jobId);
    // A worker has just taken it: the gate refuses it.
    if (!(await this.exits.takeOut(found))) return later;
    return this.leave(removal, envelope.o[0]!, envelope.e[0]!, fateOf(found));
  }

  /** It is in no queue: its producer may be about to add it, or who expired it died before it had left its place. */
  private async finish(
    { jobId, owner }: Deadline,
    place: Place,
    nowMs: number,
    later: Fate,
    dryRun: boolean,
  ): Promise<Fate> {
    const removal = await this.removals.find(jobId);
    // Of this life of its id, not of one before.
    const isNoted = removal?.why === 'expired' && Date.parse(removal.at) >= place.wantedAt;
    if (!isNoted) return !place.hasBegun && nowMs - place.wantedAt < PLACE_GRACE_MS ? later : OVER;
    const fate: Fate = { kind: 'expired', state: removal.state, job: jobId };
    return dryRun ? fate : this.leave(removal, owner, String(place.epoch), fate);
  }

  /** Said once, by whoever took it out of the index. */
  private async leave(removal: Removal, owner: string, epoch: string, fate: Fate): Promise<Fate> {
    const { id: jobId, queue, kind = '?' } = removal;
    if (await this.exits.leave(owner, epoch, jobId, JSON.stringify(removal)))
      this.journal.jobSkipped({ queue, kind, jobId, owner }, 'expired', TOO_LATE, 'sweep');
    return fate;
  }
}

function fateOf(found: FoundJob): Fate {
  return { kind: 'expired', state: stateWord(found), job: found.jobId };
}

function bounded(lateMs: number): number {
  return Math.min(LATEST_MS, Math.max(SOONEST_MS, lateMs));
}
