import { DurabilityUnknownError, Owners, type CancelOptions, type ReopenOptions } from '#core';
import { Enqueuer, KindRegistry, type EnqueueOptions } from '#nestjs';
import { Inject, Injectable } from '@nestjs/common';
import type { ClaimedRow, OutboxTarget } from '../row.js';

/** The kinds and owners of this application. */
@Injectable()
export class KindsTarget implements OutboxTarget {
  constructor(
    @Inject(Enqueuer) private readonly enqueuer: Enqueuer,
    @Inject(KindRegistry) private readonly kinds: KindRegistry,
    @Inject(Owners) private readonly owners: Owners,
  ) {}

  now(): Promise<number> {
    return this.owners.takeLate();
  }

  async enqueue({ id, name, body }: ClaimedRow, askedAt: number): Promise<void> {
    const options: EnqueueOptions = { ...body.options, jobId: id, idempotencyKey: id, askedAt };
    const ticket = await this.enqueuer.enqueue(this.kinds.get(name!), body.data, options);
    if (ticket.durable === false) throw new DurabilityUnknownError(ticket);
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
