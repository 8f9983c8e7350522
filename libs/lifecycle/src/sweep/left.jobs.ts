import { Injectable } from '@nestjs/common';
import { envelopeOf, FoundJobs, type FoundJob } from '../cancel/found.jobs.js';
import type { Place } from '../cancel/places.js';
import { Enqueuer } from '../enqueue/enqueuer.js';
import { OwnerClosedError, OwnerMovedError } from '../errors.js';
import { Keys } from '../keys.js';
import type { Envelope } from '../kinds/envelope.js';
import { KindRegistry } from '../kinds/kind.registry.js';
import { parseOwner } from '../kinds/owner.js';
import { priorityInClass } from '../kinds/priority.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Store } from '../store.js';
import { Healing, type Stray, type Tally } from './healing.js';
import type { Round } from './sweep.js';

/** How many jobs are looked at that replaced one another, each by a producer that died. */
const MOST_REPLACED = 8;

/** Whom it was to replace: all that is known of what it is, beside its payload. */
interface Model {
  readonly found: FoundJob;
  readonly envelope: Envelope;
}

/**
 * Jobs that were to replace others, and that their producers died before they could add. What they replaced was accepted and
 * cannot begin any more, so they are added in their place: with the payload that was kept for that, and otherwise as
 * what they replace. Of their own delay nobody knows.
 */
@Injectable()
export class LeftJobs {
  private readonly keys: Keys;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
    private readonly found: FoundJobs,
    private readonly kinds: KindRegistry,
    private readonly enqueuer: Enqueuer,
    private readonly healing: Healing,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  async add(owner: string, place: Place, text: string, tally: Tally, round: Round): Promise<void> {
    const { jobId, epoch } = place;
    const record = this.keys.ownerText(owner);
    const model = await this.modelOf(record, text);
    const dedup = model?.envelope.d;
    const [late, pending] = await this.store.call(() =>
      Promise.all([
        this.store.redis.hget(`${record}:late`, jobId),
        dedup === undefined ? null : this.store.redis.hget(`${record}:dedup`, dedup),
      ]),
    );
    if (!model || dedup === undefined || late === null || !this.kinds.has(model.found.job!.name)) {
      // The next trigger of its key adds it; until then nobody here knows what it is.
      tally.unknown += 1;
      return;
    }
    if (pending !== `${epoch}|${jobId}`)
      return this.giveWay(owner, pending, ['place', jobId, text], tally, round);
    if (!round.dryRun && !(await this.addAs(model, late, jobId, String(epoch)))) return;
    this.healing.count('left', jobId, 'its producer died before it was added', tally, round.dryRun);
  }

  /** Replaced itself: its successor stands for it, once that is there; until then this leads to what the successor is to be. */
  private async giveWay(
    owner: string,
    pending: string | null | undefined,
    place: Stray,
    tally: Tally,
    round: Round,
  ): Promise<void> {
    const successor = pending?.slice(pending.indexOf('|') + 1);
    const isAwaited = successor !== undefined && (await this.found.find(successor)).state === 'unknown';
    if (!isAwaited) await this.healing.mend(owner, place, tally, round);
  }

  /** False when its owners are not what they were. */
  private async addAs(
    { found, envelope }: Model,
    late: string,
    jobId: string,
    epoch: string,
  ): Promise<boolean> {
    const { name, opts } = found.job!;
    const [key, limit] = envelope.s ?? [];
    const options = {
      owners: envelope.o.map(parseOwner),
      ...(envelope.x !== undefined && { expiresIn: envelope.x }),
      ...(opts.priority !== undefined && { priority: priorityInClass(opts.priority) }),
    };
    const slot = key !== undefined && limit !== undefined ? ([key, limit] as const) : undefined;
    const as = { jobId, epochs: [epoch], dedup: envelope.d!, slot };
    try {
      await this.enqueuer.enqueueLeft(this.kinds.get(name), JSON.parse(late), options, as);
      return true;
    } catch (error) {
      if (error instanceof OwnerClosedError || error instanceof OwnerMovedError) return false;
      throw error;
    }
  }

  /** Replaced ones may have replaced others that were not added either. */
  private async modelOf(record: string, text: string): Promise<Model | undefined> {
    let replaced = text.split('|')[4];
    for (let i = 0; i < MOST_REPLACED && replaced !== undefined; i += 1) {
      const found = await this.found.find(replaced);
      const envelope = envelopeOf(found);
      if (envelope) return { found, envelope };
      const before = await this.store.call(() => this.store.redis.hget(record, `j${replaced}`));
      replaced = before?.split('|')[4];
    }
    return undefined;
  }
}
