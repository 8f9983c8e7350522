import { Owners, parseOwner } from '#core';
import { Inject, Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { ORPHAN_CANCEL } from '../../history/job-history.js';
import { Journal } from '../../journal/journal.js';
import { OwnerLives } from '../../resolvers/owner-lives.js';
import type { OwnerLife } from '../../resolvers/owner-resolver.js';
import { inLanes } from '../in-lanes.js';
import { SweepBook } from '../sweep-book.js';
import { SweepSettings } from '../sweep-settings.js';
import { MooringStore } from '../../store/mooring-store.js';
import { Sweep, type Page, type Round } from '../sweep.js';
import { GoneObservations, type GoneOwner } from './gone-observations.js';
import { scanOwners, type ScanPlace, type SeenJobs } from './owner-scan.js';
import { addTally, judge, total, type Tallies } from './ratio-guard.js';

const WHAT_TO_DO =
  'Nothing is removed. Look at a forced dry run. If the resolver was wrong and is fixed, sweep with acknowledge; if it is right, with force.';

/** Where a sweep is: asking about owners, or cancelling the candidates. */
type Position =
  | { readonly from?: ScanPlace; readonly tallies: Tallies; readonly cursor?: undefined }
  | { readonly cursor: string };

/**
 * Cancels owners that their resolver has called gone twice, with the grace in between. First it asks about all owners and notes the
 * candidates. Then it judges their number: too many at once mean that a resolver is wrong. Only then it asks about each candidate once
 * more and cancels it, unless a job was enqueued for it since it was seen.
 */
@Injectable()
export class OrphanSweep extends Sweep {
  readonly kind = 'orphans';

  constructor(
    private readonly settings: SweepSettings,
    private readonly store: MooringStore,
    private readonly lives: OwnerLives,
    private readonly observations: GoneObservations,
    private readonly book: SweepBook,
    private readonly journal: Journal,
    @Inject(Owners) private readonly owners: Owners,
  ) {
    super();
  }

  async sweepOnce(limit: number, round: Round): Promise<Page> {
    const at = round.position === undefined ? { tallies: {} } : (JSON.parse(round.position) as Position);
    return at.cursor === undefined
      ? this.ask(at.tallies, at.from, round)
      : this.cancelPage(at.cursor, limit, round);
  }

  private async ask(tallies: Tallies, from: ScanPlace | undefined, round: Round): Promise<Page> {
    const nowMs = await this.store.now();
    const { type, owners, next } = await scanOwners(this.store, this.lives.types(), from);
    const { ownerGraceMs } = this.settings;
    const asked = owners.filter(({ wanted }) => nowMs - Number(wanted) / 1_000 >= ownerGraceMs);
    const { lifeOf, failed } = await this.livesOf(asked);
    const unknown = asked.filter((each) => lifeOf(each) === 'unknown').length;
    const gone = await this.observe(
      asked.filter((each) => lifeOf(each) === 'gone'),
      nowMs,
    );
    if (!round.dryRun) await this.observations.write(round, asked, gone);
    const candidates = gone.filter(({ isCandidate }) => isCandidate).length;
    const page = {
      seen: owners.length,
      unknown,
      kept: owners.length - unknown - candidates,
      ...(failed !== undefined && { why: failed }),
      ...(round.dryRun && { removed: candidates, lines: gone.map(lineOf) }),
    };
    const sum = addTally(tallies, type, { asked: asked.length - unknown, gone: gone.length, candidates });
    if (next) return { ...page, position: JSON.stringify({ from: next, tallies: sum }) };
    return { ...page, ...(await this.decide(sum, round)) };
  }

  /** A new job, or a cancel, makes an earlier observation void. */
  private async observe(gone: readonly SeenJobs[], nowMs: number): Promise<GoneOwner[]> {
    const before = await this.observations.before(gone.map(({ owner }) => owner));
    return gone.map((seen) => {
      const earlier = before.get(seen.owner);
      const isSame = earlier?.epoch === seen.epoch && earlier.wanted === seen.wanted;
      const since = isSame ? earlier.since : nowMs;
      return { ...seen, since, isCandidate: isSame && nowMs - since >= this.settings.ownerGraceMs };
    });
  }

  /** All were asked about: whether the candidates are cancelled. */
  private async decide(tallies: Tallies, round: Round): Promise<Pick<Page, 'position' | 'tripped' | 'why'>> {
    const { gone, candidates } = total(tallies);
    const doubt = round.force ? await this.overrule(tallies, round) : await this.doubt(tallies, round);
    if (!round.dryRun) await this.observations.complete(round);
    const isOver = round.dryRun || candidates === 0 || (doubt !== undefined && !round.force);
    const position = isOver ? null : JSON.stringify({ cursor: '0' });
    if (doubt?.trips) return { position, tripped: `${doubt.why} ${WHAT_TO_DO}` };
    const first =
      round.force && gone > candidates
        ? `${gone - candidates} are gone for the first time and stay.`
        : undefined;
    const why = doubt ? `${doubt.why} Nothing is removed before they were asked about once more.` : first;
    return { position, ...(why !== undefined && { why }) };
  }

  private async doubt(tallies: Tallies, { dryRun, sweepId, lock }: Round): Promise<ReturnType<typeof judge>> {
    const before = (await this.book.trips())[this.kind];
    if (before) return { why: `Since ${before.at}: ${before.why}`, trips: true };
    const doubt = judge(tallies, this.settings.maxRatio);
    const at = new Date(await this.store.now()).toISOString();
    if (doubt?.trips && !dryRun) await this.book.trip(this.kind, { at, sweepId, why: doubt.why }, lock);
    return doubt;
  }

  /** A forced sweep ends the trip if it removes something or no owner is gone. Otherwise its operator has seen nothing. */
  private async overrule(tallies: Tallies, { dryRun }: Round): Promise<undefined> {
    const { asked, gone, candidates } = total(tallies);
    if (!dryRun && (candidates > 0 || (asked > 0 && gone === 0))) await this.book.acknowledge(this.kind);
  }

  private async cancelPage(cursor: string, limit: number, { sweepId, signal }: Round): Promise<Page> {
    const { found, next } = await this.observations.candidates(sweepId, cursor, limit);
    const counts = { removed: 0, jobs: 0, failed: 0, kept: 0, unknown: 0 };
    const gone: GoneOwner[] = [];
    for (const type of new Set(found.map(typeOf))) {
      const ofType = found.filter((each) => typeOf(each) === type);
      const { lifeOf } = await this.livesOf(ofType);
      gone.push(...ofType.filter((each) => lifeOf(each) === 'gone'));
      counts.kept += ofType.filter((each) => lifeOf(each) === 'alive').length;
    }
    counts.unknown = found.length - gone.length - counts.kept;
    const ends = await inLanes(gone, signal, (each) => this.cancel(each));
    // The page is repeated: an owner that it has cancelled has the same receipt then.
    if (signal.aborted) return { position: JSON.stringify({ cursor }) };
    for (const end of ends) {
      if (typeof end === 'string') counts[end] += 1;
      else counts.removed += 1;
      if (typeof end === 'number') counts.jobs += end;
    }
    const lines = gone.filter((_, i) => typeof ends[i] === 'number').map(lineOf);
    return { ...counts, lines, position: next === '0' ? null : JSON.stringify({ cursor: next }) };
  }

  /** Answers how many jobs it ended. The owner stays open. */
  private async cancel(gone: GoneOwner): Promise<number | 'kept' | 'failed'> {
    const { owner, epoch, wanted } = gone;
    const digest = createHash('sha256').update(`${owner}|${epoch}|${wanted}`).digest('base64url');
    const options = {
      close: false,
      by: 'janitor',
      reason: lineOf(gone).why,
      cancelId: ORPHAN_CANCEL + digest,
    };
    try {
      const receipt = await this.owners.cancel(owner, options, { epoch, wanted });
      return receipt.late ? 'kept' : receipt.removed + receipt.aborted;
    } catch (error) {
      this.journal.trouble('The cancel of orphans', error);
      return 'failed';
    }
  }

  /** Of owners of one type. */
  private async livesOf(owners: readonly SeenJobs[]): Promise<Answer> {
    if (owners.length === 0) return { lifeOf: () => 'unknown' };
    const ids = owners.map(({ owner }) => parseOwner(owner).id);
    const { lives, failed } = await this.lives.ask(typeOf(owners[0]!), ids);
    const lifeOf = ({ owner }: SeenJobs): OwnerLife => lives.get(parseOwner(owner).id) ?? 'unknown';
    return { lifeOf, ...(failed !== undefined && { failed }) };
  }
}

interface Answer {
  readonly lifeOf: (seen: SeenJobs) => OwnerLife;
  readonly failed?: string;
}

function typeOf({ owner }: SeenJobs): string {
  return parseOwner(owner).type;
}

function lineOf({ owner, since, isCandidate }: GoneOwner): { what: string; why: string } {
  const why = isCandidate
    ? `gone since ${new Date(since).toISOString()}`
    : 'gone, seen once; a later sweep may end it';
  return { what: owner, why };
}
