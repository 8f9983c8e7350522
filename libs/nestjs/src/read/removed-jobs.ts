import { Owners } from '#core';
import { Inject, Injectable, Optional } from '@nestjs/common';

/** What is remembered of a job that was removed. */
export interface RemovedJob {
  /** ms. */
  readonly at: number;
  readonly why: string;
  readonly owners: readonly string[];
  readonly name?: string;
  /** The state it was in. */
  readonly state?: string;
  readonly cancelId?: string;
  /** When it was added, and when its last run began, ms. */
  readonly added?: number;
  readonly begun?: number;
  /** How many attempts had ended before. */
  readonly attempts?: number;
  readonly reason?: string;
  readonly by?: string;
}

/** Remembers the newest removed jobs of each queue. */
export abstract class RemovedJobs {
  abstract find(queue: string, id: string): Promise<RemovedJob | undefined>;
}

/** The cancels of an orphan sweep have ids that begin so. */
export const ORPHAN_CANCEL = 'orphan-';

/** Removed jobs, with the reason of the cancel that ended them and who asked for it. */
@Injectable()
export class Removals {
  constructor(
    @Inject(Owners) private readonly owners: Owners,
    @Optional() @Inject(RemovedJobs) private readonly jobs?: RemovedJobs,
  ) {}

  async find(queue: string, id: string): Promise<RemovedJob | undefined> {
    const removed = await this.jobs?.find(queue, id);
    if (removed?.cancelId === undefined) return removed;
    const why = removed.cancelId.startsWith(ORPHAN_CANCEL) ? 'orphan' : removed.why;
    const { reason, by } = (await this.owners.receipt(removed.cancelId)) ?? {};
    return { ...removed, why, ...(reason && { reason }), ...(by && { by }) };
  }
}
