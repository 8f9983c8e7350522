import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { keepOf, type Measure } from '../kinds/keep.js';
import { KindRegistry } from '../kinds/kind.registry.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { isBefore, type Counting, type Ended, type EndedState, type Removing } from './retention.position.js';

/** How long, and how many, jobs are kept: of kinds that are known here as they say, of others as the fleet does. */
@Injectable()
export class RetentionMeasures {
  private readonly fallback: Measure;

  constructor(
    options: LifecycleOptions,
    private readonly kinds: KindRegistry,
  ) {
    this.fallback = { ...LIFECYCLE_DEFAULTS.retention, ...options.retention };
  }

  of(kind: string, state: EndedState): Measure {
    return keepOf(this.kinds.has(kind) ? this.kinds.get(kind).keep : undefined, this.fallback)[state];
  }

  /**
   * Counts a page from the newest on. Jobs that ended since the last page have pushed the others back: what was counted is
   * passed over. It is the last page when of all older jobs each goes, for its age or its number.
   */
  count(at: Counting, jobs: readonly Job[], nowMs: number): { at: Counting; isLast: boolean } {
    const counts = { ...at.counts };
    const full = { ...at.full };
    let { last } = at;
    for (const job of jobs) {
      const ended = endedOf(job);
      if (last && !isBefore(ended, last)) continue;
      last = ended;
      const count = (counts[job.name] ?? 0) + 1;
      counts[job.name] = count;
      if (count === this.of(job.name, at.state).count) full[job.name] = ended;
    }
    const isOld = last !== undefined && nowMs - last[0] >= Math.max(...this.ages(at));
    return {
      at: { ...at, from: at.from + jobs.length, counts, full, ...(last && { last }) },
      isLast: jobs.length === 0 || isOld,
    };
  }

  /** Why the job is not kept any longer; undefined when it is. */
  why(job: Job, { state, full }: Pick<Removing, 'state' | 'full'>, nowMs: number): string | undefined {
    const { ageMs, count } = this.of(job.name, state);
    const ended = endedOf(job);
    // It has left its set since, for whatever reason.
    if (job.finishedOn === undefined) return undefined;
    if (nowMs - ended[0] >= ageMs) return `it ended more than ${Math.round(ageMs / 1_000)} s ago`;
    const last = full[job.name];
    return last && isBefore(ended, last) ? `there are ${count} newer ones of its kind` : undefined;
  }

  /** Whether it, and all that ended after it, are within every measure. */
  isBeyond(job: Job, at: Removing, nowMs: number): boolean {
    const ended = endedOf(job);
    return (
      nowMs - ended[0] < Math.min(...this.ages(at)) &&
      !Object.values(at.full).some((last) => isBefore(ended, last))
    );
  }

  private ages({ queue, state }: Counting | Removing): number[] {
    const known = this.kinds.all().filter((kind) => kind.queue === queue);
    return [this.fallback.ageMs, ...known.map((kind) => this.of(kind.name, state).ageMs)];
  }
}

function endedOf(job: Job): Ended {
  return [job.finishedOn ?? 0, job.id!];
}
