import type { OwnerLife } from '../resolvers/owner.resolver.js';
import type { Doom } from './doomed.js';
import { NONE, type Tally } from './orphan.position.js';
import type { OwnerLook } from './owner.looks.js';
import type { Sighting } from './sightings.js';

/** What the answers about a page of owners mean. */
export class Findings {
  kept = 0;
  unknown = 0;
  /** Why nothing became known of some. */
  trouble: string | undefined;
  readonly tallies: Record<string, { -readonly [K in keyof Tally]: Tally[K] }> = {};
  readonly dooms: Doom[] = [];
  /** Who is gone, as what, and since when; seen now for the first time, or before. */
  readonly seen = new Map<string, Sighting>();
  readonly firsts: string[] = [];

  constructor(
    private readonly nowMs: number,
    private readonly graceMs: number,
  ) {}

  add(
    type: string,
    { owner, epoch, counter }: OwnerLook,
    life: OwnerLife,
    before: Sighting | undefined,
  ): void {
    if (life === 'unknown') {
      this.unknown += 1;
      return;
    }
    // Of whom nothing is known does not make the others fewer.
    const tally = (this.tallies[type] ??= { ...NONE });
    tally.asked += 1;
    if (life === 'alive') {
      this.kept += 1;
      return;
    }
    tally.gone += 1;
    const isSame = before?.epoch === epoch && before.counter === counter;
    const since = isSame ? before.since : this.nowMs;
    this.seen.set(owner, { epoch, counter, since });
    if (!isSame) this.firsts.push(owner);
    if (isSame && this.nowMs - since >= this.graceMs) {
      tally.doomed += 1;
      this.dooms.push({ owner, epoch, counter, goneSince: since, askedAt: this.nowMs });
    } else this.kept += 1;
  }
}
