import { Inject, Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { artifactsIdOf } from '../../kinds/job-ids.js';
import { Journal } from '../../journal/journal.js';
import { MOORING_OPTIONS, type MooringOptions } from '../../options.js';
import { MooringStore } from '../../store/mooring-store.js';
import { Quarantine } from './quarantine.js';

/** A finished job that its kind does not keep. */
export interface Excess {
  readonly job: Job;
  readonly reason: string;
  /** Artifacts that were written after this time, ms, keep it: the clock of its worker is behind. */
  readonly keptSince?: number;
  /** The word for it in the history. Default `retention`. */
  readonly word?: 'removed';
}

export type Removed = 'removed' | 'kept' | { readonly failed: string };

/**
 * The one place that removes finished jobs: first the artifacts, then the job, unless it was retried since it was read. If the process
 * dies in between, the next sweep finds the job again.
 */
@Injectable()
export class JobRemover {
  constructor(
    @Inject(MOORING_OPTIONS) private readonly options: MooringOptions,
    private readonly store: MooringStore,
    private readonly quarantine: Quarantine,
    private readonly journal: Journal,
  ) {}

  /** @param nowMs by the store's time */
  async remove(
    { job, reason, keptSince = Infinity, word }: Excess,
    state: string,
    nowMs: number,
  ): Promise<Removed> {
    const { finishedOn = 0, queueName } = job;
    const id = job.id!;
    const { artifacts } = this.options;
    try {
      if (((await artifacts?.writtenAt(artifactsIdOf(id))) ?? 0) > keptSince) return 'kept';
      await artifacts?.removeAll(artifactsIdOf(id));
      const prefix = `${this.store.root}:${queueName}:`;
      const removed = await this.store.run('removeEnded', prefix + id, [
        prefix,
        id,
        state,
        finishedOn,
        reason,
        word ?? 'retention',
      ]);
      return removed === 1 ? 'removed' : 'kept';
    } catch (error) {
      const failed = (error as Error).message;
      this.journal.trouble('The removal of finished jobs', error);
      await this.quarantine.fail(id, failed, nowMs);
      return { failed };
    }
  }
}
