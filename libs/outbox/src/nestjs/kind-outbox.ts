import { InvalidJobError } from '#core';
import { escapeText } from '#core/parts';
import { JobRequests, newJobId, type EnqueueOptions, type Kind, type PayloadIn } from '#nestjs';
import { Inject, Injectable } from '@nestjs/common';
import { OutboxWriter } from '../outbox-writer.js';
import type { NewRow, Queryable } from '../row.js';
import { OUTBOX_OPTIONS, type OutboxModuleOptions } from './options.js';

const OWN = ['jobId', 'idempotencyKey', 'askedAt'] as const;

export type OutboxEnqueueOptions = Omit<EnqueueOptions, (typeof OWN)[number]>;

/** One job of many. */
export interface OutboxItem<K extends Kind = Kind> {
  readonly kind: K;
  readonly payload: PayloadIn<K>;
  readonly options?: OutboxEnqueueOptions;
}

/** The id that the job will have. */
export interface KindTicket {
  readonly id: string;
  readonly kind: string;
  readonly queue: string;
  readonly owners: readonly string[];
}

/** Enqueues jobs of kinds, and cancels and reopens owners, in the caller's transaction. */
@Injectable()
export class KindOutbox extends OutboxWriter {
  constructor(
    @Inject(OUTBOX_OPTIONS) options: OutboxModuleOptions,
    @Inject(JobRequests) private readonly requests: JobRequests,
  ) {
    super(options);
  }

  /** A request that cannot be right is refused before anything is written. */
  async enqueue<K extends Kind>(
    client: Queryable,
    kind: K,
    payload: PayloadIn<K>,
    options: OutboxEnqueueOptions = {},
  ): Promise<KindTicket> {
    const [ticket] = await this.enqueueAll(client, [{ kind, payload, options }]);
    return ticket!;
  }

  /** With one statement. */
  async enqueueAll(client: Queryable, items: readonly OutboxItem[]): Promise<KindTicket[]> {
    const read = await Promise.all(items.map((item) => this.read(item)));
    await this.write(
      client,
      read.map(({ row }) => row),
    );
    return read.map(({ ticket }) => ticket);
  }

  /** The payload is stored as the caller gave it: the relay checks it against the kind that it has then. */
  private async read({
    kind,
    payload,
    options = {},
  }: OutboxItem): Promise<{ row: NewRow; ticket: KindTicket }> {
    const own = OWN.find((option) => option in options);
    if (own !== undefined) throw new InvalidJobError(`An enqueue in a transaction has no option "${own}".`);
    const id = newJobId(kind.queue);
    const { owners } = await this.requests.read(kind, payload, options);
    const { queue, name } = kind;
    const body = { data: payload, options: { ...options, owners } };
    const row: NewRow = { id, action: 'enqueue', owners: owners.map(escapeText), queue, name, body };
    return { row, ticket: { id, kind: name, queue, owners } };
  }
}
