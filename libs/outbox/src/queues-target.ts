import type { CancelOptions, MooredQueue, Owners, ReopenOptions } from '#core';
import type { JobsOptions } from 'bullmq';
import type { ClaimedRow, OutboxTarget } from './row.js';

/** Queues of `@mooring/core`, by their names, and the owners of the same prefix. */
export class QueuesTarget implements OutboxTarget {
  private readonly queues: ReadonlyMap<string, MooredQueue>;

  constructor(
    queues: readonly MooredQueue[],
    private readonly owners: Owners,
  ) {
    this.queues = new Map(queues.map((queue) => [queue.name, queue]));
  }

  now(): Promise<number> {
    return this.owners.takeLate();
  }

  enqueue({ id, queue: name, name: job, body }: ClaimedRow, askedAt: number): Promise<unknown> {
    const queue = this.queues.get(name!);
    if (!queue) throw new Error(`The relay has no queue "${name}".`);
    const options = body.options as JobsOptions;
    const once = { jobId: id, idempotency: { key: id, request: id }, askedAt };
    return queue.enqueue(job!, body.data, { ...options, ...once });
  }

  cancel(owner: string, options: CancelOptions): Promise<unknown> {
    return this.owners.cancel(owner, options);
  }

  cancelJob(queue: string, id: string, options: CancelOptions): Promise<unknown> {
    return this.owners.cancelJob(queue, id, options);
  }

  reopen(owner: string, options: ReopenOptions): Promise<unknown> {
    return this.owners.reopen(owner, options);
  }
}
