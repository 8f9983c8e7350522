import { Injectable } from '@nestjs/common';
import { CleanUps } from '../cancel/clean-ups.js';
import { Journal } from '../journal.js';
import type { NewsOf } from '../news/news.js';
import { Queues } from '../queues.js';
import { Store } from '../store.js';
import { GhostJobs } from './ghost.jobs.js';
import { Tally } from './healing.js';
import { KeyWalk } from './key.walk.js';
import { OwnerDirectory, type ListPlace } from './owner.directory.js';
import { OwnerRepair } from './owner.repair.js';
import { Sweep, type Page, type Round, type SweepKind } from './sweep.js';
import { Sweeps } from './sweeps.js';
import { UntoldNews } from './untold.news.js';
import { Walks } from './walks.js';

/** Of the store's keys so many calls' worth, and of each queue's ids so many, are gone over in one sweep. */
const KEY_STEPS = 400;
const GHOSTS = 2_000;
/** So many owners are looked at once. */
const AT_ONCE = 8;
const KEY_WALK = 'keys';

/**
 * Where a repair is. `left`: so much news stays listed; `from`, in a dry run, where its own walk of the keys is; `rest`: owners of whom a page of what they have was
 * looked at, and where the next begins; `done` queues, and of the next so many ids `read`.
 */
type Position =
  | { readonly phase: 'cancels' }
  | { readonly phase: 'untold'; readonly of: NewsOf; readonly left: number }
  | { readonly phase: 'keys'; readonly steps: number; readonly from?: string }
  | {
      readonly phase: 'owners';
      readonly from?: ListPlace;
      readonly rest?: readonly Unfinished[];
      readonly isLast?: boolean;
    }
  | { readonly phase: 'ghosts' | 'ended'; readonly done: number; readonly read?: number };
type Unfinished = readonly [owner: string, cursor: string];

/**
 * Mends what a process left half done when it died, and what no other road leads to. Each thing is compared with what it
 * was seen as when it is mended, so a repair may die anywhere, and be done twice.
 */
@Injectable()
export class RepairSweep extends Sweep {
  readonly kind: SweepKind = 'repair';

  constructor(
    sweeps: Sweeps,
    private readonly store: Store,
    private readonly cleanUps: CleanUps,
    private readonly news: UntoldNews,
    private readonly keyWalk: KeyWalk,
    private readonly walks: Walks,
    private readonly directory: OwnerDirectory,
    private readonly owners: OwnerRepair,
    private readonly ghosts: GhostJobs,
    private readonly queues: Queues,
    private readonly journal: Journal,
  ) {
    super(sweeps);
  }

  async sweepOnce(limit: number, round: Round): Promise<Page> {
    const at: Position = round.position ? (JSON.parse(round.position) as Position) : { phase: 'cancels' };
    const tally = new Tally();
    const next = await this.work(at, limit, tally, round);
    const { seen, healed, unknown, failed, lines } = tally;
    const position = next && JSON.stringify(round.signal.aborted ? at : next);
    return { seen, healed, unknown, failed, lines, position: position ?? null };
  }

  private async work(at: Position, limit: number, tally: Tally, round: Round): Promise<Position | undefined> {
    switch (at.phase) {
      case 'cancels':
        if (!round.dryRun) await this.takeUpCancels(tally);
        return { phase: 'untold', of: 'cancels', left: 0 };
      case 'untold':
        return this.tellNews(at, limit, tally, round);
      case 'keys':
        return this.goOverKeys(at, tally, round);
      case 'owners':
        return this.goOverOwners(at, limit, tally, round);
      case 'ghosts':
      case 'ended':
        return this.goOverQueues(at, limit, tally, round);
    }
  }

  /** Every process looks for them more often than this; here it is written down. */
  private async takeUpCancels(tally: Tally): Promise<void> {
    const count = await this.cleanUps.resume();
    if (count === 0) return;
    tally.seen += count;
    tally.healed += count;
    tally.lines.push({ what: `${count} cancellation(s)`, why: 'not at their end, and nobody was at them' });
  }

  private async tellNews(
    { of, left }: Extract<Position, { phase: 'untold' }>,
    limit: number,
    tally: Tally,
    round: Round,
  ): Promise<Position> {
    const next = await this.news.tell(of, left, limit, tally, round);
    if (next !== undefined) return { phase: 'untold', of, left: next };
    return of === 'cancels' ? { phase: 'untold', of: 'sweeps', left: 0 } : { phase: 'keys', steps: 0 };
  }

  /** A part of the way; the next repair goes on. A dry run goes its own from the beginning, for nothing is noted. */
  private async goOverKeys(
    { steps, from: ownFrom }: Extract<Position, { phase: 'keys' }>,
    tally: Tally,
    round: Round,
  ): Promise<Position> {
    const from = round.dryRun ? ownFrom : await this.walks.where(KEY_WALK);
    const next = await this.keyWalk.step(from, await this.store.now(), tally, round);
    if (!round.signal.aborted && !round.dryRun) await this.walks.note(KEY_WALK, next);
    if (next === undefined || steps + 1 >= KEY_STEPS) return { phase: 'owners' };
    return { phase: 'keys', steps: steps + 1, ...(round.dryRun && { from: next }) };
  }

  private async goOverOwners(
    { from, rest = [], isLast = false }: Extract<Position, { phase: 'owners' }>,
    limit: number,
    tally: Tally,
    round: Round,
  ): Promise<Position> {
    const page = rest.length > 0 || isLast ? undefined : await this.directory.page(from, limit);
    const begun = page?.owners.map((owner): Unfinished => [owner, '0']) ?? rest;
    const left = await this.repairAll(begun, limit, tally, round);
    const isOver = isLast || (page !== undefined && !page.next);
    if (left.length === 0 && isOver) return { phase: 'ghosts', done: 0 };
    const on = page?.next ?? from;
    return { phase: 'owners', ...(on && { from: on }), rest: left, isLast: isOver };
  }

  private async repairAll(
    begun: readonly Unfinished[],
    limit: number,
    tally: Tally,
    round: Round,
  ): Promise<Unfinished[]> {
    const nowMs = await this.store.now();
    const left: Unfinished[] = [];
    const todo = begun.values();
    const lane = async (): Promise<void> => {
      for (const [owner, cursor] of todo) {
        if (round.signal.aborted) return;
        try {
          const next = await this.owners.repair(owner, { cursor, nowMs, limit }, tally, round);
          if (next !== '0') left.push([owner, next]);
        } catch (error) {
          // One that cannot be mended must not stand before the others.
          this.journal.sweepTrouble(this.kind, owner, error);
          tally.failed += 1;
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    return left;
  }

  private async goOverQueues(
    { phase, done, read = 0 }: Extract<Position, { done: number }>,
    limit: number,
    tally: Tally,
    round: Round,
  ): Promise<Position | undefined> {
    const queue = this.queues.all().toSorted((a, b) => a.name.localeCompare(b.name))[done];
    if (!queue) return undefined;
    const rest = GHOSTS - read;
    // What a dry run reads is not noted, so it reads all at once.
    const most = round.dryRun ? rest : Math.min(limit, rest);
    const isLast =
      phase === 'ghosts'
        ? await this.ghosts.look(queue.name, most, tally, round)
        : await this.ghosts.lookAtEnded(queue.name, most, tally, round);
    if (!isLast && most < rest) return { phase, done, read: read + most };
    return phase === 'ghosts' ? { phase: 'ended', done } : { phase: 'ghosts', done: done + 1 };
  }
}
