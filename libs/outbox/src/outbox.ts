import { InvalidJobError } from '#core';
import { requireOwners } from '#core/parts';
import { randomUUID } from 'node:crypto';
import { OutboxWriter } from './outbox-writer.js';
import type { NewRow, OutboxJobOptions, Queryable } from './row.js';

export interface OutboxJob<Data = unknown> {
  readonly queue: string;
  readonly name: string;
  readonly data: Data;
  readonly opts: OutboxJobOptions;
}

/** The id that the job will have. */
export interface OutboxTicket {
  readonly id: string;
  readonly queue: string;
}

const OWN = ['jobId', 'idempotency', 'askedAt', 'mooring', 'parent', 'repeat'];

/** Enqueues, cancels and reopens in the caller's transaction, for queues of `@mooring/core`. */
export class Outbox extends OutboxWriter {
  async enqueue(client: Queryable, job: OutboxJob): Promise<OutboxTicket> {
    const [ticket] = await this.enqueueAll(client, [job]);
    return ticket!;
  }

  /** With one statement. */
  async enqueueAll(client: Queryable, jobs: readonly OutboxJob[]): Promise<OutboxTicket[]> {
    const rows = jobs.map(rowOf);
    await this.write(client, rows);
    return rows.map(({ id, queue }) => ({ id, queue: queue! }));
  }
}

function rowOf({ queue, name, data = {}, opts }: OutboxJob): NewRow {
  const own = OWN.find((option) => option in opts);
  if (own !== undefined) throw new InvalidJobError(`A job in a transaction has no option "${own}".`);
  const { names } = requireOwners(opts);
  return {
    id: randomUUID(),
    action: 'enqueue',
    owners: names.split('|'),
    queue,
    name,
    body: { data, options: opts },
  };
}
