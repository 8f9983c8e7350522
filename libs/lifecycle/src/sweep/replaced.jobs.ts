import { Injectable } from '@nestjs/common';
import { envelopeOf, FoundJobs } from '../cancel/found.jobs.js';
import { readPlace, type Place } from '../cancel/places.js';
import { Replacements } from '../enqueue/replacements.js';
import { Keys } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Store } from '../store.js';
import { Healing, type Tally } from './healing.js';
import type { Round } from './sweep.js';

/** Jobs that were replaced by one that is there, and that its producer died before it could take out. The gate refuses them. */
@Injectable()
export class ReplacedJobs {
  private readonly keys: Keys;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
    private readonly found: FoundJobs,
    private readonly replacements: Replacements,
    private readonly healing: Healing,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  /** `replaced` is what the place of the one that is there names. */
  async remove(
    owner: string,
    { jobId, epoch }: Place,
    replaced: string,
    tally: Tally,
    { dryRun }: Round,
  ): Promise<void> {
    const record = this.keys.ownerText(owner);
    const text = await this.store.call(() => this.store.redis.hget(record, `j${replaced}`));
    if (text === null) return;
    const place = readPlace(replaced, text);
    if (place.epoch !== epoch || place.hasBegun) return;
    const found = await this.found.find(replaced);
    const envelope = envelopeOf(found);
    if (!envelope || !(await this.replacements.isToGo(found, envelope))) return;
    if (!dryRun && !(await this.replacements.takeOut(found, jobId, await this.store.now()))) return;
    this.healing.count('replaced', replaced, 'another took its place', tally, dryRun);
  }
}
