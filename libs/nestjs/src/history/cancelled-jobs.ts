import { Owners, type Receipt } from '#core';
import { Inject, Injectable } from '@nestjs/common';
import { Journal } from '../journal/journal.js';
import { JobHistory } from './job-history.js';

/** As many as the history of an owner has. */
const MOST_TOLD = 1_000;

/** Tells of the waiting jobs that a cancel has removed before it answered. No worker had them. */
@Injectable()
export class CancelledJobs {
  constructor(
    @Inject(Owners) private readonly owners: Owners,
    private readonly history: JobHistory,
    private readonly journal: Journal,
  ) {
    journal.listen((fact) => {
      if (fact.event === 'owner.cancelled' && fact.removed > 0)
        this.tell(fact).catch((error: unknown) => journal.trouble('What a cancel has removed', error));
    });
  }

  private async tell({ owner, cancelId, removed, reason: why, by }: Receipt): Promise<void> {
    const entries = await this.owners.history(owner, 0, Math.min(removed, MOST_TOLD));
    for (const { queue, id: jobId } of entries) {
      const job = await this.history.findRemoved(queue, jobId);
      // A job that had come to a worker is told of there.
      if (job?.state !== 'removed' || job.cancelId !== cancelId) continue;
      const facts = { queue, jobId, kind: job.kind, owner: job.owners[0] ?? '' };
      this.journal.tell({ event: 'job.cancelled', ...facts, why, by });
    }
  }
}
