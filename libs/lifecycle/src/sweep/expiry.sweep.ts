import { Injectable } from '@nestjs/common';
import { Journal } from '../journal.js';
import { Store } from '../store.js';
import { Deadlines, type Deadline, type DuePlace } from './deadlines.js';
import { ExpiredJobs, type Fate } from './expired.jobs.js';
import { inLanes } from './lanes.js';
import { Sweep, type Page, type Round, type SweepKind, type SweepLine } from './sweep.js';
import { Sweeps } from './sweeps.js';

/** So many jobs are looked at once. */
const AT_ONCE = 16;
/** One that could not be looked at must not stand before the others for ever. */
const AFTER_FAILURE_MS = 60_000;

interface Position extends DuePlace {
  /** What falls due later is for the next sweep. */
  readonly untilMs: number;
}

/** Ends pending jobs whose time is over, without waiting for a worker to come to them. */
@Injectable()
export class ExpirySweep extends Sweep {
  readonly kind: SweepKind = 'expiry';

  constructor(
    sweeps: Sweeps,
    private readonly deadlines: Deadlines,
    private readonly expired: ExpiredJobs,
    private readonly store: Store,
    private readonly journal: Journal,
  ) {
    super(sweeps);
  }

  override async hasWork(): Promise<boolean> {
    return this.deadlines.isAnyDue(await this.store.now());
  }

  async sweepOnce(limit: number, round: Round): Promise<Page> {
    const { untilMs, ...from } = await this.read(round.position);
    const { due, next } = await this.deadlines.page(from, untilMs, limit);
    const { page, looked } = await this.lookAll(due, round);
    if (!round.dryRun) await this.deadlines.settle(looked);
    if (!next && !round.signal.aborted) return { ...page, position: null };
    // What was dealt with has left this part: the next page begins where this one did.
    const at = round.dryRun && next ? next : { shard: next?.shard ?? from.shard, skip: 0 };
    const stopped = round.signal.aborted ? from : at;
    return { ...page, position: JSON.stringify({ ...stopped, untilMs }) };
  }

  private async read(position: string | undefined): Promise<Position> {
    if (position !== undefined) return JSON.parse(position) as Position;
    return { shard: 0, skip: 0, untilMs: await this.store.now() };
  }

  private async lookAll(
    due: readonly Deadline[],
    { dryRun, signal }: Round,
  ): Promise<{ page: Omit<Page, 'position'>; looked: [Deadline, number | undefined][] }> {
    const counts = { seen: 0, removed: 0, kept: 0, failed: 0 };
    const lines: SweepLine[] = [];
    const looked: [Deadline, number | undefined][] = [];
    const nowMs = await this.store.now();
    const fates = await inLanes(due, signal, (deadline) => this.look(deadline, nowMs, dryRun), AT_ONCE);
    for (const [i, fate] of fates.entries()) {
      looked.push([due[i]!, againMs(fate, nowMs)]);
      if (fate === 'failed') counts.failed += 1;
      else if (fate.kind === 'over') continue;
      else if (fate.kind === 'kept') counts.kept += 1;
      else {
        counts.removed += 1;
        lines.push({ what: fate.job, why: `did not start in time (it was ${fate.state})` });
      }
      counts.seen += 1;
    }
    return { page: { ...counts, lines }, looked };
  }

  private async look(deadline: Deadline, nowMs: number, dryRun: boolean): Promise<Fate | 'failed'> {
    try {
      return await this.expired.look(deadline, nowMs, dryRun);
    } catch (error) {
      this.journal.sweepTrouble(this.kind, deadline.jobId, error);
      return 'failed';
    }
  }
}

function againMs(fate: Fate | 'failed', nowMs: number): number | undefined {
  if (fate === 'failed') return nowMs + AFTER_FAILURE_MS;
  return fate.kind === 'kept' ? fate.againMs : undefined;
}
