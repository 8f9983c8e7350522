import { InvalidJobError, parseOwner, formatOwner, type Owner } from '#core';
import { checkOptions, escapeText } from '#core/parts';
import { randomUUID } from 'node:crypto';
import type { NewRow, OutboxCancelOptions, Queryable } from './row.js';
import { tableIn, type SchemaOptions } from './schema.js';

const CANCEL_OPTIONS = ['reason', 'by', 'cancelId', 'close', 'happenedAt'];
const COLUMNS = 'id, action, owners, queue, name, body';
const RECORDS = `json_to_recordset(($1::text)::json)
  as given(id text, action text, owners text[], queue text, name text, body text)`;

/** Names a cancel, whose receipt `Owners.receipt` has once it was relayed. */
export interface CancelTicket {
  readonly cancelId: string;
}

/** Writes rows in the caller's transaction: they exist for relays once it commits. */
export abstract class OutboxWriter {
  private readonly table: string;

  constructor({ schema }: SchemaOptions = {}) {
    this.table = tableIn(schema);
  }

  /** Ends the jobs that the owner has when the row is relayed, and those of earlier rows. The owner is closed unless `close` is false. */
  async cancel(
    client: Queryable,
    owner: Owner | string,
    options: OutboxCancelOptions = {},
  ): Promise<CancelTicket> {
    const name = formatOwner(parseOwner(owner));
    const id = cancelIdOf(options);
    const body = { owner: name, options };
    await this.write(client, [{ id, action: 'cancel', owners: [escapeText(name)], body }]);
    return { cancelId: id };
  }

  /** A job that was not relayed yet is never added. */
  async cancelJob(
    client: Queryable,
    { id: job, queue }: { readonly id: string; readonly queue: string },
    options: Pick<OutboxCancelOptions, 'reason' | 'by' | 'cancelId'> = {},
  ): Promise<CancelTicket> {
    const id = cancelIdOf(options);
    const row: NewRow = { id, action: 'cancel-job', owners: [], queue, name: job, body: { job, options } };
    // The update waits for a relay that has the row. If it was relayed, the cancel is.
    const stop = `with stopped as (update ${this.table} set state = 'refused', code = 'CANCELLED', ended_at = statement_timestamp()
      where id = (($1::text)::json -> 0 ->> 'name') and action = 'enqueue' and state = 'pending' returning id)`;
    await this.insert(client, [row], stop, 'where not exists (select from stopped)');
    return { cancelId: id };
  }

  /** A closed owner takes jobs again, in the order of the rows. */
  async reopen(
    client: Queryable,
    owner: Owner | string,
    options: { readonly by?: string } = {},
  ): Promise<void> {
    const name = formatOwner(parseOwner(owner));
    const body = { owner: name, options };
    await this.write(client, [{ id: randomUUID(), action: 'reopen', owners: [escapeText(name)], body }]);
  }

  protected write(client: Queryable, rows: readonly NewRow[]): Promise<void> {
    return this.insert(client, rows);
  }

  /** One parameter, a text: what any driver can pass. The body is a text of its own within it, so that PostgreSQL does not look into it. */
  private async insert(client: Queryable, rows: readonly NewRow[], before = '', where = ''): Promise<void> {
    if (rows.length === 0) return;
    const given = rows.map((row) => ({ ...row, body: JSON.stringify(row.body) }));
    const text = `${before} insert into ${this.table} (${COLUMNS})
      select id, action, owners, queue, name, body::json from ${RECORDS} ${where} on conflict (id) do nothing`;
    await client.query(text, [JSON.stringify(given)]);
  }
}

function cancelIdOf(options: OutboxCancelOptions): string {
  const unknown = Object.keys(options).find((name) => !CANCEL_OPTIONS.includes(name));
  if (unknown !== undefined)
    throw new InvalidJobError(
      `A cancel in a transaction has no option "${unknown}"; it has ${CANCEL_OPTIONS.join(', ')}.`,
    );
  checkOptions(options);
  return options.cancelId ?? randomUUID();
}
