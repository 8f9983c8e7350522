import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { Queues } from '../queues.js';
import { Store } from '../store.js';
import { Quarantine } from './quarantine.js';
import { EndedJobs } from './ended.jobs.js';
import { countOf } from './fate.js';
import { JobKeepers } from './job.keepers.js';
import { inLanes } from './lanes.js';
import { Reaps, type Reaped } from './reaps.js';
import { RetentionMeasures, type Over } from './retention.measures.js';
import {
  readPosition,
  writePosition,
  type Counting,
  type Position,
  type Removing,
  type Waiting,
} from './retention.position.js';
import { Retirement, type Retiring } from './retirement.js';
import { Sweep, type Page, type Round, type SweepKind, type SweepLine } from './sweep.js';
import { Sweeps } from './sweeps.js';

/** A page is read whole, payloads too. */
const MOST_JOBS = 100;

/**
 * Removes finished jobs that are over their kind's measure, the oldest first, each after its artifacts. Of every queue the
 * jobs that completed, and those that failed, are first counted from the newest on, as far as a measure reaches; then
 * taken from the oldest on.
 */
@Injectable()
export class RetentionSweep extends Sweep {
  readonly kind: SweepKind = 'retention';

  constructor(
    sweeps: Sweeps,
    private readonly queues: Queues,
    private readonly store: Store,
    private readonly ended: EndedJobs,
    private readonly measures: RetentionMeasures,
    private readonly keepers: JobKeepers,
    private readonly retirement: Retirement,
    private readonly reaps: Reaps,
    private readonly quarantine: Quarantine,
  ) {
    super(sweeps);
  }

  async sweepOnce(limit: number, round: Round): Promise<Page> {
    const at = readPosition(round.position);
    const { next, waiting: found, ...page } = await this.turn(at, limit, round);
    const waiting = sumOf(at.waiting ?? NOBODY, found ?? NOBODY);
    if (next) return { ...page, position: writePosition({ ...next, waiting }) };
    const { resting, quarantined } = waiting;
    return { ...page, position: null, waiting: resting + quarantined, ...(await this.wordOn(waiting)) };
  }

  private turn(at: Position, limit: number, round: Round): Promise<Turned> {
    switch (at.phase) {
      case 'left':
        return this.finishLeft(at.cursor, limit, round);
      case 'count':
        return this.count(at, Math.min(limit, MOST_JOBS));
      case 'remove':
        return this.remove(at, Math.min(limit, MOST_JOBS), round);
    }
  }

  /** Those whose remover died after the job was gone; the others are counted with their queue. */
  private async finishLeft(cursor: string, limit: number, { dryRun, signal }: Round): Promise<Turned> {
    if (dryRun) return { next: this.after() };
    const { jobs, next } = await this.reaps.page(cursor, limit);
    const fates = await inLanes(jobs, signal, (reaped) => this.retirement.finish(reaped));
    const { removed, failed } = countOf(fates.map(({ fate }) => fate));
    const lines = jobs.flatMap(({ jobId }, i) => failureOf(jobId, fates[i]));
    const at: Position = { phase: 'left', cursor: signal.aborted ? cursor : next };
    return { removed, failed, lines, next: next === '0' && !signal.aborted ? this.after() : at };
  }

  private async count(at: Counting, limit: number): Promise<Turned> {
    const nowMs = await this.store.now();
    const counted = this.measures.count(at, await this.ended.page(at, limit, false), nowMs);
    if (!counted.isLast) return { next: counted.at };
    const { queue, state, full } = counted.at;
    return { next: { phase: 'remove', queue, state, full, from: 0 } };
  }

  private async remove(at: Removing, limit: number, round: Round): Promise<Turned> {
    const nowMs = await this.store.now();
    const { length, jobs } = await this.ended.page(at, limit, true);
    const overdue = jobs.flatMap((job): Doomed[] => {
      const over = this.measures.why(job, at, nowMs);
      const reaped = over && this.retirement.reapedOf(job);
      return over && reaped ? [{ job, over, reaped }] : [];
    });
    const asked = at.state === 'completed' ? overdue.map(({ job }) => job) : [];
    const wanted = await this.keepers.wanted(asked);
    const doomed = overdue.filter(({ job }) => !wanted.has(job.id!));
    const fates = await this.retireAll(at, doomed, round);
    const { removed, failed } = countOf(fates.map((one) => one?.fate));
    const lines = doomed.flatMap(({ job, over: { why } }, i) =>
      fates[i]?.fate === 'removed' ? [{ what: job.id!, why }] : failureOf(job.id!, fates[i]),
    );
    // A page that was stopped is done again, and counts what was done.
    if (round.signal.aborted) return { removed, failed, seen: removed + failed, lines, next: at };

    const unknown = length - jobs.filter(({ name }) => this.measures.of(name, at.state)).length;
    const counts = { seen: length, removed, failed, unknown, kept: length - removed - failed - unknown };
    const newest = jobs.at(-1);
    const isLast = length === 0 || (newest && this.measures.isBeyond(newest, at, nowMs));
    const from = at.from + length - (round.dryRun ? 0 : removed);
    return {
      ...counts,
      lines,
      waiting: waitingAmong(fates),
      next: isLast ? this.after(at) : { ...at, from },
    };
  }

  private async retireAll(
    { queue, state }: Removing,
    doomed: readonly Doomed[],
    { signal, force, dryRun }: Round,
  ): Promise<Retiring[]> {
    if (!dryRun) await this.reaps.list(doomed.map(({ reaped }) => reaped));
    const from = this.queues.get(queue);
    return inLanes(doomed, signal, ({ job, over, reaped }) => {
      const retired = { job, queue: from, state, ...over };
      return dryRun
        ? this.retirement.judge(reaped, retired, force)
        : this.retirement.retire(reaped, retired, force);
    });
  }

  /** Where counting begins in what comes after; undefined when nothing does. */
  private after(at?: Removing): Counting | undefined {
    const begin = { phase: 'count', from: 0, counts: {}, full: {} } as const;
    if (at?.state === 'completed') return { ...begin, queue: at.queue, state: 'failed' };
    const names = this.queues.all().map(({ name }) => name);
    const queue = names.toSorted().find((name) => !at || name > at.queue);
    return queue === undefined ? undefined : { ...begin, queue, state: 'completed' };
  }

  private async wordOn({ resting, why }: Waiting): Promise<{ why?: string }> {
    const count = await this.quarantine.count();
    const words = [
      ...(resting > 0
        ? [`${resting} at rest after a failure${why ? `, one of them for this: ${why}` : ''}`]
        : []),
      ...(count > 0 ? [`${count} in quarantine: see GET /v1/admin/quarantine`] : []),
    ];
    return words.length > 0 ? { why: words.join('; ') } : {};
  }
}

type Turned = Omit<Page, 'position' | 'waiting'> & {
  readonly next: Position | undefined;
  readonly waiting?: Waiting;
};

interface Doomed {
  readonly job: Job;
  readonly over: Over;
  readonly reaped: Reaped;
}

const NOBODY: Waiting = { resting: 0, quarantined: 0 };

function waitingAmong(fates: readonly Retiring[]): Waiting {
  const resting = fates.filter(({ waits }) => waits === 'resting');
  const quarantined = fates.filter(({ waits }) => waits === 'quarantined').length;
  return { resting: resting.length, quarantined, why: resting.find(({ why }) => why)?.why };
}

function sumOf(a: Waiting, b: Waiting): Waiting {
  return {
    resting: a.resting + b.resting,
    quarantined: a.quarantined + b.quarantined,
    why: b.why ?? a.why,
  };
}

function failureOf(what: string, one: Retiring | undefined): SweepLine[] {
  return one?.fate === 'failed' ? [{ what, why: `it could not be removed: ${one.why}` }] : [];
}
