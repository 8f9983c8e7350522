import { Injectable } from '@nestjs/common';
import { CleanUps } from '../cancel/clean-ups.js';
import { Journal } from '../journal.js';
import { Queues } from '../queues.js';
import { Store } from '../store.js';
import { GhostJobs } from './ghost.jobs.js';
import { Tally } from './healing.js';
import { KeyWalk } from './key.walk.js';
import { OwnerDirectory, type ListPlace } from './owner.directory.js';
import { OwnerRepair } from './owner.repair.js';
import { Sweep, type Page, type Round, type SweepKind } from './sweep.js';
import { Sweeps } from './sweeps.js';
import { Walks } from './walks.js';

/** Of the store's keys so many calls' worth, and of each queue's ids so many, are gone over in one sweep. */
const KEY_STEPS = 400;
const GHOSTS = 2_000;
/** So many owners are looked at once. */
const AT_ONCE = 8;
const KEY_WALK = 'keys';

/** Where a repair is. `rest`: owners of whom a page of their jobs was looked at, and where the next begins. */
type Position =
  | { readonly phase: 'cancels' }
  | { readonly phase: 'keys'; readonly steps: number }
  | {
      readonly phase: 'owners';
      readonly from?: ListPlace;
      readonly rest?: readonly Unfinished[];
      readonly isLast?: boolean;
    }
  | { readonly phase: 'ghosts' | 'ended'; readonly done: number };
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
        if (!round.dryRun) await this.cleanUps.resume();
        return { phase: 'keys', steps: 0 };
      case 'keys':
        return this.goOverKeys(at.steps, tally, round);
      case 'owners':
        return this.goOverOwners(at, limit, tally, round);
      case 'ghosts':
      case 'ended':
        return this.goOverQueues(at, tally, round);
    }
  }

  /** A part of the way; the next repair goes on. In a dry run from the beginning, for nothing is noted. */
  private async goOverKeys(steps: number, tally: Tally, round: Round): Promise<Position> {
    const from = round.dryRun && steps === 0 ? undefined : await this.walks.where(KEY_WALK);
    const next = await this.keyWalk.step(from, await this.store.now(), tally, round);
    if (!round.signal.aborted && !round.dryRun) await this.walks.note(KEY_WALK, next);
    const isEnough = next === undefined || round.dryRun || steps + 1 >= KEY_STEPS;
    return isEnough ? { phase: 'owners' } : { phase: 'keys', steps: steps + 1 };
  }

  private async goOverOwners(
    { from, rest = [], isLast = false }: Extract<Position, { phase: 'owners' }>,
    limit: number,
    tally: Tally,
    round: Round,
  ): Promise<Position> {
    const page = rest.length > 0 || isLast ? undefined : await this.directory.page(from, limit);
    const begun = page?.owners.map((owner): Unfinished => [owner, '0']) ?? rest;
    const left = await this.repairAll(begun, tally, round);
    const isOver = isLast || (page !== undefined && !page.next);
    if (left.length === 0 && isOver) return { phase: 'ghosts', done: 0 };
    const on = page?.next ?? from;
    return { phase: 'owners', ...(on && { from: on }), rest: left, isLast: isOver };
  }

  private async repairAll(begun: readonly Unfinished[], tally: Tally, round: Round): Promise<Unfinished[]> {
    const nowMs = await this.store.now();
    const left: Unfinished[] = [];
    const todo = begun.values();
    const lane = async (): Promise<void> => {
      for (const [owner, cursor] of todo) {
        if (round.signal.aborted) return;
        try {
          const next = await this.owners.repair(owner, cursor, nowMs, tally, round);
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
    { phase, done }: Extract<Position, { done: number }>,
    tally: Tally,
    round: Round,
  ): Promise<Position | undefined> {
    const queue = this.queues.all().toSorted((a, b) => a.name.localeCompare(b.name))[done];
    if (!queue) return undefined;
    if (phase === 'ghosts') await this.ghosts.look(queue.name, GHOSTS, tally, round);
    else await this.ghosts.lookAtEnded(queue.name, GHOSTS, tally, round);
    return phase === 'ghosts' ? { phase: 'ended', done } : { phase: 'ghosts', done: done + 1 };
  }
}
