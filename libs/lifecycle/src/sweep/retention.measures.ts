import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { isOurs } from '../kinds/envelope.js';
import { keepOf, type Measure } from '../kinds/keep.js';
import { KindRegistry } from '../kinds/kind.registry.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import type { EndedPage } from './ended.jobs.js';
import { isBefore, type Counting, type Ended, type EndedState, type Removing } from './retention.position.js';

/** Why a job is not kept any longer. */
export interface Over {
  readonly why: string;
  /** When it is for its age: in the store's time, ms, what it left is to be from before this. */
  readonly before?: number;
}

/**
 * How long, and how many, jobs are kept, as their kinds say. Of a kind that is not known here, a newer worker's, nobody can
 * say: its jobs are kept, until BullMQ takes them.
 */
@Injectable()
export class RetentionMeasures {
  private readonly fallback: Measure;

  constructor(
    options: LifecycleOptions,
    private readonly kinds: KindRegistry,
  ) {
    this.fallback = { ...LIFECYCLE_DEFAULTS.retention, ...options.retention };
  }

  of(kind: string, state: EndedState): Measure | undefined {
    return this.kinds.has(kind) ? keepOf(this.kinds.get(kind).keep, this.fallback)[state] : undefined;
  }

  /**
   * Counts a page from the newest on. Jobs that ended since the last page have pushed the others back: what was counted is
   * passed over. It is the last page when of all older jobs each goes that may, for its age or its number.
   */
  count(at: Counting, { length, jobs }: EndedPage, nowMs: number): { at: Counting; isLast: boolean } {
    const counts = { ...at.counts };
    const full = { ...at.full };
    let { last } = at;
    for (const job of jobs) {
      const ended = endedOf(job);
      if (last && !isBefore(ended, last)) continue;
      last = ended;
      // What other programs make is not swept, and crowds nothing out.
      if (!isOurs(job)) continue;
      const count = (counts[job.name] ?? 0) + 1;
      counts[job.name] = count;
      if (count === this.of(job.name, at.state)?.count) full[job.name] = ended;
    }
    const goesOn = this.measuresOf(at).some(
      ([kind, { ageMs }]) => !(kind in full) && (last === undefined || nowMs - last[0] < ageMs),
    );
    return {
      at: { ...at, from: at.from + length, counts, full, ...(last && { last }) },
      isLast: length === 0 || !goesOn,
    };
  }

  /** Why the job is not kept any longer; undefined when it is. */
  why(job: Job, { state, full }: Pick<Removing, 'state' | 'full'>, nowMs: number): Over | undefined {
    const measure = this.of(job.name, state);
    const ended = endedOf(job);
    // It has left its set since, for whatever reason.
    if (!measure || job.finishedOn === undefined) return undefined;
    const { ageMs, count } = measure;
    if (nowMs - ended[0] >= ageMs)
      return { why: `it ended more than ${Math.round(ageMs / 1_000)} s ago`, before: nowMs - ageMs };
    const last = full[job.name];
    return last && isBefore(ended, last) ? { why: `there are ${count} newer ones of its kind` } : undefined;
  }

  /** Whether it, and all that ended after it, are within every measure. */
  isBeyond(job: Job, at: Removing, nowMs: number): boolean {
    const ended = endedOf(job);
    return (
      this.measuresOf(at).every(([, { ageMs }]) => nowMs - ended[0] < ageMs) &&
      !Object.values(at.full).some((last) => isBefore(ended, last))
    );
  }

  private measuresOf({ queue, state }: Counting | Removing): [kind: string, Measure][] {
    const known = this.kinds.all().filter((kind) => kind.queue === queue);
    return known.map(({ name, keep }) => [name, keepOf(keep, this.fallback)[state]]);
  }
}

function endedOf(job: Job): Ended {
  return [job.finishedOn ?? 0, job.id!];
}
