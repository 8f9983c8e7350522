import { formatOwner, InvalidJobError, parseOwner, type Ticket } from '#core';
import { Injectable } from '@nestjs/common';
import { TooLargeError } from '../errors.js';
import { KindRegistry } from '../kinds/kind-registry.js';
import type { Kind, PayloadIn } from '../kinds/kind.js';
import { readPayload } from '../kinds/payload-schema.js';
import { QueueRegistry } from './queue-registry.js';
import { jobOptionsOf, type EnqueueOptions } from './enqueue-options.js';

/** The outcome of the request, and the job that does its work. */
export interface EnqueueTicket {
  readonly outcome: Exclude<Ticket['outcome'], 'existing'>;
  readonly id: string;
  readonly kind: string;
  readonly queue: string;
  readonly owners: readonly string[];
  /** The job whose place it took. */
  readonly replaced?: string;
}

/** Enqueues jobs of kinds. A request that cannot be right is refused before anything is written. */
@Injectable()
export class Enqueuer {
  constructor(
    private readonly kinds: KindRegistry,
    private readonly queues: QueueRegistry,
  ) {}

  async enqueue<K extends Kind>(
    kind: K,
    payload: PayloadIn<K>,
    options: EnqueueOptions = {},
  ): Promise<EnqueueTicket> {
    this.kinds.get(kind.name);
    const read = await this.checkPayload(kind, payload);
    const jobOptions = jobOptionsOf(kind, read as never, options);
    const owners = (jobOptions.owners ?? []).map((each) => formatOwner(parseOwner(each)));
    const ticket = await this.queues.get(kind.queue).enqueue(kind.name, payload, { ...jobOptions, owners });
    const outcome = ticket.outcome === 'existing' ? 'created' : ticket.outcome;
    return { ...ticket, outcome, kind: kind.name, queue: kind.queue, owners };
  }

  /** The payload is checked as its run will get it, after JSON, and stored as the caller gave it. */
  private async checkPayload(kind: Kind, payload: unknown): Promise<unknown> {
    const text = toJson(payload);
    const bytes = Buffer.byteLength(text ?? '');
    if (bytes > kind.maxPayloadBytes) throw new TooLargeError(bytes, kind.maxPayloadBytes);
    const read = await readPayload(kind.payload, text === undefined ? undefined : JSON.parse(text));
    if ('problems' in read)
      throw new InvalidJobError(`The payload of ${kind.name} is wrong:\n${read.problems}`);
    return read.payload;
  }
}

/** Nothing for what JSON cannot write, such as a function. */
function toJson(payload: unknown): string | undefined {
  try {
    return JSON.stringify(payload);
  } catch (error) {
    throw new InvalidJobError(`The payload cannot be written as JSON: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}
