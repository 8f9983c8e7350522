import { QueueFullError, type Ticket } from '#core';
import { Inject, Injectable } from '@nestjs/common';
import type { Kind, PayloadIn } from '../kinds/kind.js';
import { Journal } from '../journal/journal.js';
import { MOORING_OPTIONS, type MooringOptions } from '../options.js';
import { answerOf, isDurable } from './durable-answer.js';
import { nameSlot, type EnqueueOptions } from './enqueue-options.js';
import type { JobOrigin } from './job-origin.js';
import { JobRequests, type JobRequest } from './job-requests.js';
import { QueueRegistry } from './queue-registry.js';

/** The outcome of the request, and the job that does its work. */
export interface EnqueueTicket {
  readonly outcome: Exclude<Ticket['outcome'], 'existing'>;
  readonly id: string;
  readonly kind: string;
  readonly queue: string;
  readonly owners: readonly string[];
  /** The job whose place it took. */
  readonly replaced?: string;
  /** Whether the write was confirmed as durable; absent where `durability` does not ask for it. */
  readonly durable?: boolean;
}

/** One job of many. */
export interface EnqueueItem<K extends Kind = Kind> {
  readonly kind: K;
  readonly payload: PayloadIn<K>;
  readonly options?: EnqueueOptions;
}

/** Enqueues jobs of kinds. A request that cannot be right is refused before anything is written. */
@Injectable()
export class Enqueuer {
  private readonly waitsForDurability: boolean;

  constructor(
    @Inject(MOORING_OPTIONS) options: MooringOptions,
    private readonly requests: JobRequests,
    private readonly queues: QueueRegistry,
    private readonly journal: Journal,
  ) {
    this.waitsForDurability = isDurable(options);
  }

  async enqueue<K extends Kind>(
    kind: K,
    payload: PayloadIn<K>,
    options: EnqueueOptions = {},
  ): Promise<EnqueueTicket> {
    return this.add(await this.requests.read(kind, payload, options));
  }

  /** The ticket of each, or why it was refused, in the order of the items. They share their round trips, and one leaves the others alone. */
  enqueueAll(items: readonly EnqueueItem[]): Promise<PromiseSettledResult<EnqueueTicket>[]> {
    return Promise.allSettled(
      items.map(({ kind, payload, options }) => this.enqueue(kind, payload as never, options)),
    );
  }

  /** For callers who have work to do before they enqueue. Enqueuing decides all the same. @throws QueueFullError */
  async checkRoom({ queue }: Kind): Promise<void> {
    const counts = await this.queues
      .get(queue)
      .getJobCounts('wait', 'prioritized', 'delayed', 'waiting-children');
    const waiting = Object.values(counts).reduce((sum, count) => sum + count, 0);
    if (waiting >= this.queues.maxWaitingIn(queue)) throw new QueueFullError(queue, waiting);
  }

  private async add({ kind, payload, owners, options }: JobRequest): Promise<EnqueueTicket> {
    const write = this.queues.get(kind.queue).enqueue(kind.name, payload, options);
    try {
      const { answer, durable } = this.waitsForDurability ? await answerOf(write) : { answer: await write };
      const { outcome, id, replaced } = answer;
      const ticket: EnqueueTicket = {
        // The same command twice, or an id that the caller has used before.
        outcome: outcome === 'existing' ? 'created' : outcome,
        id,
        kind: kind.name,
        queue: kind.queue,
        owners,
        ...(replaced !== undefined && { replaced }),
        ...(durable !== undefined && { durable }),
      };
      if (!answer.isRepeat) this.tell(ticket, options.origin);
      return ticket;
    } catch (error) {
      nameSlot(error, options.slot);
    }
  }

  private tell({ outcome, id: jobId, kind, queue, owners }: EnqueueTicket, origin: JobOrigin = {}): void {
    const { requestId } = origin;
    const facts = { queue, kind, jobId, owner: owners[0] ?? '', ...(requestId && { requestId }) };
    if (outcome === 'created' || outcome === 'replaced')
      this.journal.tell({ event: 'job.accepted', ...facts });
    else this.journal.tell({ event: 'job.deduplicated', outcome, ...facts });
  }
}
