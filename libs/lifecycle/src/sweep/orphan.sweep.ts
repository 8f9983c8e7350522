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
import { awaiting, judge, sum } from './ratio.guard.js';
import { Sightings } from './sightings.js';
import { SweepBook } from './sweep.book.js';
import { Sweep, type Page, type Round, type SweepKind, type SweepLine } from './sweep.js';
import { Sweeps } from './sweeps.js';

/** A sweep that was stopped is gone on with; but not on such old words. */
const JUDGEMENT_HOLDS_MS = 10 * 60_000;
const FOREIGN = writePosition({ phase: 'foreign', queue: 0 });
const WHAT_TO_DO =
  'Nothing is removed. Look at a forced dry run; if it was wrong and is mended, sweep with acknowledge, and if it is right, with force.';

/** `tripped` until an operator says so; `waits` for the next sweep. */
interface Judgement {
  readonly tripped?: string;
  readonly waits?: string;
}

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
        return this.lookForForeign(at, limit, round);
    }
  }

  private async ask(at: Extract<Position, { phase: 'ask' }>, limit: number, round: Round): Promise<Page> {
    const { page: found, next, tallies } = await this.survey.look(at, limit, round);
    // The list is kept short all the same.
    const page =
      this.lives.types().length > 0 ? found : { ...found, why: 'Nobody says which owners are gone.' };
    if (next) return { ...page, position: writePosition(next) };
    const { tripped, waits } = await this.judgeAll(tallies, round);
    const isAll = round.dryRun || waits !== undefined || sum(tallies, 'doomed') === 0;
    if (!round.dryRun && (tripped !== undefined || isAll)) await this.doomed.forget(round.sweepId);
    if (tripped !== undefined) return { ...page, position: null, tripped };
    const why = [page.why, waits ?? secondWords(tallies, round)].filter(Boolean).join(' ');
    const last = { ...page, ...(why && { why }) };
    if (isAll) return { ...last, position: FOREIGN };
    const judgedAt = await this.store.now();
    return { ...last, position: writePosition({ phase: 'remove', cursor: '0', judgedAt }) };
  }

  /**
   * Why nothing may be removed, if so: before it was asked once more, or until an operator acknowledges or forces it,
   * whatever the next sweep finds. Who forces it finds somebody to remove, or nobody gone: otherwise it stays tripped.
   */
  private async judgeAll(tallies: Tallies, { force, dryRun, sweepId }: Round): Promise<Judgement> {
    if (force) {
      // Somebody must have answered, for the operator to have seen anything.
      const isSeen = sum(tallies, 'doomed') > 0 || (sum(tallies, 'asked') > 0 && sum(tallies, 'gone') === 0);
      if (!dryRun && isSeen) await this.book.acknowledge(this.kind);
      return {};
    }
    const before = (await this.book.trips())[this.kind];
    if (before) return { tripped: `Since ${before.at}: ${before.why} ${WHAT_TO_DO}` };
    const doubt = judge(tallies, this.maxRatio);
    if (!doubt) return {};
    const { why, trips } = doubt;
    if (!trips) return { waits: `${why} Nothing is removed before they were asked about once more.` };
    const at = new Date(await this.store.now()).toISOString();
    if (!dryRun) await this.book.trip(this.kind, { at, sweepId, why });
    return { tripped: `${why} ${WHAT_TO_DO}` };
  }

  private async remove(at: Removing, limit: number, { sweepId, signal, fence }: Round): Promise<Page> {
    const { cursor } = at;
    // Gone on with long after: who was gone then may be back, and is asked about anew.
    if ((await this.store.now()) - at.judgedAt > JUDGEMENT_HOLDS_MS) {
      await this.doomed.forget(sweepId);
      return { position: writePosition(readPosition(undefined)) };
    }
    const { dooms: found, next } = await this.doomed.page(sweepId, cursor, limit);
    const { dooms, ...stay } = await this.askAgain(found);
    const ends = await inLanes(dooms, signal, (doom) => this.end(doom));
    // Counted when it is done again: whom it has ended stays ended, with the same receipt.
    if (signal.aborted) return { position: writePosition(at) };
    const counts = { removed: 0, failed: 0, jobs: 0, ...stay };
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
      found.map(({ owner }) => owner),
      new Map(),
      fence,
    );
    if (next === '0') await this.doomed.forget(sweepId);
    return {
      ...counts,
      lines,
      position: next === '0' ? FOREIGN : writePosition({ ...at, cursor: next }),
    };
  }

  /** A sweep that was stopped, or is slow, may have asked about some long ago: they go only if they are gone still. */
  private async askAgain(dooms: readonly Doom[]): Promise<{ dooms: Doom[]; kept: number; unknown: number }> {
    const nowMs = await this.store.now();
    const isOld = ({ askedAt = 0 }: Doom): boolean => nowMs - askedAt > JUDGEMENT_HOLDS_MS;
    const { gone, unknown } = await this.survey.stillGone(dooms.filter(isOld).map(({ owner }) => owner));
    const going = dooms.filter((doom) => !isOld(doom) || gone.has(doom.owner));
    return { dooms: going, kept: dooms.length - going.length - unknown.size, unknown: unknown.size };
  }

  /** Jobs without owners would outlive them all. A queue that was stopped in its middle is left to the next sweep. */
  private async lookForForeign(
    at: Extract<Position, { phase: 'foreign' }>,
    limit: number,
    round: Round,
  ): Promise<Page> {
    const { page, next } = await this.foreign.look(at, limit, round);
    const position = next ? writePosition({ phase: 'foreign', ...next }) : null;
    return { ...page, position };
  }

  /** Compared and set: an enqueue since it was seen keeps its owner. Asked twice, it is one cancel. */
  private async end({ owner, goneSince, epoch, counter }: Doom): Promise<number | 'kept' | 'failed'> {
    try {
      const seen = { epoch, counter };
      const receipt = await this.canceller.cancelOrphan(parseOwner(owner), seen, goneSinceWords(goneSince));
      return receipt ? receipt.removed + receipt.aborted : 'kept';
    } catch (error) {
      this.journal.sweepTrouble(this.kind, owner, error);
      return 'failed';
    }
  }
}

/** Who forces a sweep hears who does not go by it. */
function secondWords(tallies: Tallies, { force }: Round): string | undefined {
  const count = awaiting(tallies);
  if (!force || count === 0) return undefined;
  return `${count} are said to be gone for the first time, and stay until that is said again, OWNER_GRACE later.`;
}
