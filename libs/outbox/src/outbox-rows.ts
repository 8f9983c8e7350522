import type { Pool, PoolClient } from 'pg';
import type { Action, ClaimedRow } from './row.js';
import { inTransaction, tableIn, type SchemaOptions } from './schema.js';
import type { Outcome } from './outcome.js';

/** Frees the rows of a relay that hangs between claim and commit; another one then takes them. */
const IDLE_TIMEOUT_MS = 15_000;
/**
 * The table fills and empties faster than its statistics are made. With old ones PostgreSQL reads and sorts all rows for a batch, so a batch
 * would cost what the table holds; the indexes have the order.
 */
const SETTINGS = `set local idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS};
  set local enable_seqscan = off; set local enable_sort = off`;
const PURGED_AT_ONCE = 5_000;

/** A row as an operator sees it. */
export interface OutboxEntry {
  readonly id: string;
  readonly action: Action;
  readonly owners: readonly string[];
  readonly queue: string | null;
  readonly name: string | null;
  readonly at: Date;
  readonly state: 'pending' | 'done' | 'refused';
  readonly attempts: number;
  readonly code: string | null;
  readonly reason: string | null;
}

/** Rows that a relay has for as long as its transaction lasts. */
export interface Claim {
  readonly rows: readonly ClaimedRow[];
  /** When they were claimed, ms by the database's clock. */
  readonly at: number;
}

/** The rows of the outbox, for relays and operators. */
export class OutboxRows {
  private readonly table: string;

  constructor(
    private readonly pool: Pool,
    { schema }: SchemaOptions = {},
  ) {
    this.table = tableIn(schema);
  }

  /** Rows that are due, until `work` has an outcome for each. Rows of other relays are skipped. Answers how many there were. */
  relay(limit: number, work: (claim: Claim) => Promise<readonly Outcome[]>): Promise<number> {
    return inTransaction(this.pool, async (client) => {
      await client.query(SETTINGS);
      const claim = await this.claim(client, limit);
      if (claim.rows.length > 0) await this.settle(client, await work(claim));
      return claim.rows.length;
    });
  }

  /** The newest first. */
  async list({
    state = 'refused',
    limit = 100,
  }: { readonly state?: OutboxEntry['state']; readonly limit?: number } = {}): Promise<OutboxEntry[]> {
    const order = state === 'pending' ? 'due_at desc, seq desc' : 'ended_at desc';
    const { rows } = await this.pool.query<OutboxEntry>(
      `select id, action, owners, queue, name, at, state, attempts, code, reason
       from ${this.table} where state = $1 order by ${order} limit $2`,
      [state, limit],
    );
    return rows;
  }

  /** Rows that wait and rows that were refused, and how long the oldest of those that are due waits. */
  async counts(): Promise<{ pending: number; refused: number; oldestDueMs: number }> {
    const { rows } = await this.pool.query<{ pending: number; refused: number; oldestDueMs: number }>(
      `select (select count(*)::int from ${this.table} where state = 'pending') as pending,
         (select count(*)::int from ${this.table} where state = 'refused') as refused,
         coalesce((select greatest(0, extract(epoch from statement_timestamp() - min(due_at)) * 1000)
           from ${this.table} where state = 'pending'), 0)::float as "oldestDueMs"`,
    );
    return rows[0]!;
  }

  /** Refused rows are asked for again, as of now. Answers how many. */
  async retry(ids: readonly string[]): Promise<number> {
    const { rowCount } = await this.pool.query(
      `update ${this.table} set state = 'pending', attempts = 0, at = clock_timestamp(), due_at = clock_timestamp(),
         code = null, reason = null, ended_at = null where id = any($1) and state = 'refused'`,
      [ids],
    );
    return rowCount ?? 0;
  }

  /** Removes rows that ended before. Answers how many; more may be left. */
  async purge(state: 'done' | 'refused', keepMs: number): Promise<number> {
    const { rowCount } = await this.pool.query(
      `delete from ${this.table} where id in (select id from ${this.table}
         where state = $1 and ended_at < statement_timestamp() - $2 * interval '1 millisecond' limit ${PURGED_AT_ONCE})`,
      [state, keepMs],
    );
    return rowCount ?? 0;
  }

  /**
   * A row waits for earlier cancels and reopenings of its owners. It does not wait for earlier enqueues: one that is relayed after a later
   * cancel is refused by the store.
   */
  private async claim(client: PoolClient, limit: number): Promise<Claim> {
    const { rows } = await client.query<ClaimedRow & { now: number; json: string }>(
      `select id, action, owners, queue, name, body::text as json, attempts,
         (extract(epoch from at) * 1000)::float8 as at, (extract(epoch from statement_timestamp()) * 1000)::float8 as now
       from ${this.table} o where state = 'pending' and due_at <= statement_timestamp() and not exists (
         select from ${this.table} earlier where earlier.state = 'pending' and earlier.action in ('cancel', 'reopen')
           and earlier.owners && o.owners and earlier.seq < o.seq)
       order by due_at, seq limit $1 for update of o skip locked`,
      [limit],
    );
    return {
      rows: rows.map(({ json, ...row }) => ({ ...row, body: JSON.parse(json) as ClaimedRow['body'] })),
      at: rows[0]?.now ?? 0,
    };
  }

  private async settle(client: PoolClient, outcomes: readonly Outcome[]): Promise<void> {
    await client.query(
      `update ${this.table} o set state = given.state, code = given.code, reason = given.reason,
         attempts = o.attempts + 1, due_at = statement_timestamp() + given."retryInMs" * interval '1 millisecond',
         ended_at = case when given.state = 'pending' then null else statement_timestamp() end
       from json_to_recordset(($1::text)::json) as given(id text, state text, code text, reason text, "retryInMs" float8)
       where o.id = given.id`,
      [JSON.stringify(outcomes.map((each) => ({ ...each, retryInMs: each.retryInMs ?? 0 })))],
    );
  }
}
