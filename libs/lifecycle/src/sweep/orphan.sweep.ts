import { Injectable } from '@nestjs/common';
import { Canceller } from '../cancel/canceller.js';
import { Journal } from '../journal.js';
import { parseOwner } from '../kinds/owner.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { OwnerLives } from '../resolvers/owner.lives.js';
import { Store } from '../store.js';
import { Doomed, type Doom } from './doomed.js';
import { ForeignSurvey } from './foreign.survey.js';
import { readPosition, writePosition, type Position, type Tallies } from './orphan.position.js';
import { inLanes } from './lanes.js';
import { goneSinceWords, OrphanSurvey } from './orphan.survey.js';
import { judge, sum } from './ratio.guard.js';
import { Sightings } from './sightings.js';
import { SweepBook } from './sweep.book.js';
import { Sweep, type Page, type Round, type SweepKind, type SweepLine } from './sweep.js';
import { Sweeps } from './sweeps.js';

/** A sweep that was stopped is gone on with; but not on such old words. */
const JUDGEMENT_HOLDS_MS = 10 * 60_000;
const FOREIGN = writePosition({ phase: 'foreign', queue: 0 });
const WHAT_TO_DO =
  'Nothing is removed. Look at a forced dry run; if it was wrong and is mended, sweep with acknowledge, and if it is right, with force.';

type Removing = Extract<Position, { phase: 'remove' }>;

/**
 * Ends owners whom their resolver has said twice to be gone. First all are asked and the doomed written down; then their
 * number is judged: too many at once are nobody's orphans but somebody's error. Only then each is cancelled, if nothing
 * was enqueued for it since it was seen.
 */
@Injectable()
export class OrphanSweep extends Sweep {
  readonly kind: SweepKind = 'orphans';
  private readonly maxRatio: number;

  constructor(
    sweeps: Sweeps,
    options: LifecycleOptions,
    private readonly survey: OrphanSurvey,
    private readonly doomed: Doomed,
    private readonly foreign: ForeignSurvey,
    private readonly sightings: Sightings,
    private readonly lives: OwnerLives,
    private readonly canceller: Canceller,
    private readonly book: SweepBook,
    private readonly store: Store,
    private readonly journal: Journal,
  ) {
    super(sweeps);
    this.maxRatio = options.sweeps?.maxRatio ?? LIFECYCLE_DEFAULTS.sweepMaxRatio;
  }

  async sweepOnce(limit: number, round: Round): Promise<Page> {
    const at = readPosition(round.position);
    switch (at.phase) {
      case 'ask':
        return this.ask(at, limit, round);
      case 'remove':
        return this.remove(at, limit, round);
      case 'foreign':
        return this.lookForForeign(at.queue, round);
    }
  }

  private async ask(at: Extract<Position, { phase: 'ask' }>, limit: number, round: Round): Promise<Page> {
    const { page: found, next, tallies } = await this.survey.look(at, limit, round);
    // The list is kept short all the same.
    const page =
      this.lives.types().length > 0 ? found : { ...found, why: 'Nobody says which owners are gone.' };
    if (next) return { ...page, position: writePosition(next) };
    const tripped = await this.judgeAll(tallies, round);
    if (tripped !== undefined) return { ...page, position: null, tripped };
    const isAll = round.dryRun || sum(tallies, 'doomed') === 0;
    if (isAll) return { ...page, position: FOREIGN };
    const judgedAt = await this.store.now();
    return { ...page, position: writePosition({ phase: 'remove', cursor: '0', judgedAt }) };
  }

  /** Why nothing may be removed, if so. It stays so until an operator acknowledges or forces it, whatever the next sweep finds. */
  private async judgeAll(tallies: Tallies, { force, dryRun, sweepId }: Round): Promise<string | undefined> {
    if (force) {
      // Somebody must have answered, for the operator to have seen anything.
      if (!dryRun && sum(tallies, 'asked') > 0) await this.book.acknowledge(this.kind);
      return undefined;
    }
    const before = (await this.book.trips())[this.kind];
    if (before) return `Since ${before.at}: ${before.why} ${WHAT_TO_DO}`;
    const why = judge(tallies, this.maxRatio);
    if (why === undefined) return undefined;
    const at = new Date(await this.store.now()).toISOString();
    if (!dryRun) await this.book.trip(this.kind, { at, sweepId, why });
    return `${why} ${WHAT_TO_DO}`;
  }

  private async remove(at: Removing, limit: number, { sweepId, signal, fence }: Round): Promise<Page> {
    const { cursor } = at;
    // Gone on with long after: who was gone then may be back, and is asked about anew.
    if ((await this.store.now()) - at.judgedAt > JUDGEMENT_HOLDS_MS) {
      await this.doomed.forget(sweepId);
      return { position: writePosition(readPosition(undefined)) };
    }
    const { dooms, next } = await this.doomed.page(sweepId, cursor, limit);
    const ends = await inLanes(dooms, signal, (doom) => this.end(doom));
    // Counted when it is done again: whom it has ended stays ended, with the same receipt.
    if (signal.aborted) return { position: writePosition(at) };
    const counts = { removed: 0, kept: 0, failed: 0, jobs: 0 };
    const lines: SweepLine[] = [];
    for (const [i, end] of ends.entries()) {
      if (typeof end === 'string') {
        counts[end] += 1;
        continue;
      }
      counts.removed += 1;
      counts.jobs += end;
      lines.push({ what: dooms[i]!.owner, why: goneSinceWords(dooms[i]!.goneSince) });
    }
    // Whatever came of it, what it was seen as is over.
    await this.sightings.write(
      dooms.map(({ owner }) => owner),
      new Map(),
      fence,
    );
    return {
      ...counts,
      lines,
      position: next === '0' ? FOREIGN : writePosition({ ...at, cursor: next }),
    };
  }

  /** Jobs without owners would outlive them all. A queue that was stopped in its middle is left to the next sweep. */
  private async lookForForeign(queue: number, round: Round): Promise<Page> {
    const { page, next } = await this.foreign.look(queue, round);
    const position = next === undefined ? null : writePosition({ phase: 'foreign', queue: next });
    return { ...page, position };
  }

  /** Compared and set: an enqueue since it was seen keeps its owner. Asked twice, it is one cancel. */
  private async end({ owner, goneSince, ...seen }: Doom): Promise<number | 'kept' | 'failed'> {
    try {
      const receipt = await this.canceller.cancelOrphan(parseOwner(owner), seen, goneSinceWords(goneSince));
      return receipt ? receipt.removed + receipt.aborted : 'kept';
    } catch (error) {
      this.journal.sweepTrouble(this.kind, owner, error);
      return 'failed';
    }
  }
}
