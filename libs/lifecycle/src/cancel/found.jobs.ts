import { Injectable } from '@nestjs/common';
import type { Job, JobState, Queue } from 'bullmq';
import { ifNoLongerDelayed } from '../enqueue/twins.js';
import type { Removal } from '../history/removals.js';
import { openEnvelope, type Envelope } from '../kinds/envelope.js';
import { queueOfJobId } from '../kinds/ids.js';
import { failedOfChild, readFailure, WHILE_IT_RAN } from '../kinds/outcome.js';
import { Queues } from '../queues.js';
import { Store } from '../store.js';

/** A job, where it is, and whether there is one at all. */
export interface FoundJob {
  readonly jobId: string;
  readonly queue: Queue;
  readonly job: Job | undefined;
  readonly state: JobState | 'unknown';
}

/** Finds jobs by their ids alone, in whatever queue, also one of which this process knows no kind. */
@Injectable()
export class FoundJobs {
  constructor(
    private readonly queues: Queues,
    private readonly store: Store,
  ) {}

  find(jobId: string): Promise<FoundJob> {
    return this.store.call(async () => {
      const queue = this.queues.open(queueOfJobId(jobId) ?? '');
      // The state first: a job that moves on in between is found again by the next look.
      const [state, job] = await Promise.all([
        queue.getJobState(jobId),
        queue.getJob(jobId) as Promise<Job | undefined>,
      ]);
      return { jobId, queue, job: job?.name ? job : undefined, state };
    });
  }

  /** All jobs below it in its flow, as far as they can be read, whoever their owners are. */
  async below(found: FoundJob): Promise<string[]> {
    const ids = envelopeOf(found)?.c?.jobs.map(([id]) => id) ?? [];
    const below = await Promise.all(ids.map(async (id) => this.below(await this.find(id))));
    return [...ids, ...below.flat()];
  }

  /** It is refused there in its turn; a delayed one comes now. */
  async handToGate({ job, state }: FoundJob): Promise<void> {
    if (state === 'delayed') await this.store.call(() => job!.promote().catch(ifNoLongerDelayed));
  }
}

/** Of one that is corrupt there is none. */
export function envelopeOf({ job }: FoundJob): Envelope | undefined {
  try {
    return job && openEnvelope(job);
  } catch {
    return undefined;
  }
}

/**
 * How a cancel ended a job that has ended: it came to a worker, and was refused at the gate, or with a child of it that was;
 * or it ran. Nothing for one that had ended by itself.
 */
export function endedByCancel({ job }: FoundJob): 'refused' | 'running' | undefined {
  const reason = job?.failedReason ?? '';
  if (failedOfChild(reason)) return 'refused';
  const { endedAs, why } = readFailure(reason);
  if (endedAs !== 'cancelled' && endedAs !== 'skipped') return undefined;
  return why === WHILE_IT_RAN ? 'running' : 'refused';
}

/** How a caller names the state that a waiting job is in. */
export function stateWord({ job, state }: FoundJob): string {
  if (state === 'delayed') return (job?.attemptsMade ?? 0) > 0 ? 'retrying' : 'delayed';
  return state === 'active' ? 'running' : state === 'unknown' ? 'gone' : 'waiting';
}

/** What is remembered of a job that goes before it ran. */
export function removalOf(
  found: FoundJob,
  { o: owners }: Envelope,
  atMs: number,
  cause: Pick<Removal, 'why' | 'reason' | 'by'>,
): Removal {
  const { jobId: id, queue, job } = found;
  const at = new Date(atMs).toISOString();
  return { id, queue: queue.name, kind: job!.name, owners, state: stateWord(found), at, ...cause };
}
