import { Injectable } from '@nestjs/common';
import { Journal, type Healed } from '../journal.js';
import { CLOSED_KEEP_MS, Keys, RECORD_KEEP_MS } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import type { Round, SweepLine } from './sweep.js';

/** What a page of a repair came to. */
export class Tally {
  seen = 0;
  healed = 0;
  unknown = 0;
  failed = 0;
  readonly lines: SweepLine[] = [];
}

/** Something that stands in an owner's keys to no purpose: see mend.lua. */
export type Stray = readonly [sort: 'place' | 'dedup' | 'late' | 'done' | 'run', name: string, seen: string];

const WHY: Readonly<Record<Stray[0], string>> = {
  place: 'a place without a job',
  dedup: 'a key whose job is gone',
  late: 'a payload whose job is gone',
  done: 'a result whose job is gone',
  run: 'a run whose worker is gone',
};

/** Mends, counts and tells. In a dry run it only counts. */
@Injectable()
export class Healing {
  private readonly keys: Keys;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
    private readonly journal: Journal,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  /** Compared and set, each by itself: what was mended by another meanwhile is not counted. */
  async mend(owner: string, [sort, name, seen]: Stray, tally: Tally, { dryRun }: Round): Promise<void> {
    const args = ['', RECORD_KEEP_MS, CLOSED_KEEP_MS, sort, name, seen];
    const record = this.keys.ownerText(owner);
    const isMended =
      dryRun || (await this.store.call(() => runScript(this.store.redis, 'mend', [record], args))) === 1;
    if (isMended)
      this.count(sort, sort === 'dedup' ? owner : (name.split('|')[0] ?? ''), WHY[sort], tally, dryRun);
  }

  count(sort: Healed, what: string, why: string, tally: Tally, dryRun: boolean): void {
    tally.healed += 1;
    tally.lines.push({ what, why });
    if (!dryRun) this.journal.entryHealed(sort, what);
  }
}
