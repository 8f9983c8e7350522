import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { jobIdFor, queueOfJobId } from '../kinds/ids.js';
import { KindRegistry } from '../kinds/kind.registry.js';
import type { Kind } from '../kinds/kind.js';
import type { Owner } from '../kinds/owner.js';
import { LEAST_URGENT } from '../kinds/priority.js';
import { Store } from '../store.js';
import { Enqueuer } from './enqueuer.js';

/** A job of another program's that its kind knows whose it is. */
export interface Adoptable {
  readonly kind: Kind;
  readonly owners: readonly Owner[];
}

/**
 * Jobs that other programs add to our queues by themselves: without owners, so that no cancel would ever find them. One whose kind
 * says whose it is becomes a job of ours, under an id that follows from its own: adopted twice, it is one.
 */
@Injectable()
export class ForeignJobs {
  constructor(
    private readonly kinds: KindRegistry,
    private readonly enqueuer: Enqueuer,
    private readonly store: Store,
  ) {}

  isForeign(queue: string, id: string): boolean {
    return queueOfJobId(id) !== queue;
  }

  /** Nothing when its kind does not know; what `ownersOf` throws goes through. A part of another's flow stays one. */
  read(job: Job): Adoptable | undefined {
    const kind = job.name && this.kinds.has(job.name) ? this.kinds.get(job.name) : undefined;
    if (!kind?.ownersOf || kind.queue !== job.queueName || job.parent) return undefined;
    const owners = kind.ownersOf({ id: job.id ?? '?', name: job.name, data: job.data as unknown });
    return owners && owners.length > 0 ? { kind, owners } : undefined;
  }

  /** Answers the id of the job that does it now. It keeps what it had of delay, priority and attempts. */
  async adopt(job: Job, { kind, owners }: Adoptable): Promise<string> {
    const { priority = 0, delay = 0, attempts } = job.opts;
    const leftMs = Math.round(job.timestamp + delay - (await this.store.now()));
    const options = {
      owners,
      ...(priority > 0 && { priority: Math.min(priority, LEAST_URGENT) }),
      ...(delay > 0 && leftMs > 0 && { delay: leftMs }),
    };
    // A number is used again when a queue was emptied: the time sets the two apart.
    const jobId = jobIdFor(kind.queue, ['foreign', kind.queue, job.id, job.timestamp].join('\0'));
    const as = { jobId, epochs: [], ...(attempts !== undefined && { attempts }) };
    return (await this.enqueuer.enqueueOnce(kind, job.data, options, as)).id;
  }
}
