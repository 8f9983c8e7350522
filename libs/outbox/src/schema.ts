import type { Pool, PoolClient } from 'pg';

export const CHANNEL = 'mooring_outbox';
const DEFAULT_SCHEMA = 'mooring';
/** Serializes processes that migrate at the same time. */
const MIGRATION_LOCK = 7_260_314_102;

export interface SchemaOptions {
  /** The schema of the table. Default `mooring`. */
  readonly schema?: string | undefined;
}

export interface MigrateOptions extends SchemaOptions {
  /** Wakes relays when a transaction commits. Without it they see new rows when they poll. Default true. */
  readonly notify?: boolean | undefined;
}

export function tableIn(schema = DEFAULT_SCHEMA): string {
  return `${quote(schema)}.outbox`;
}

/** What relays hear when a transaction has written rows. */
export function notificationOf(schema = DEFAULT_SCHEMA): string {
  return schema;
}

/** The statements that create the table, for tools that keep migrations themselves. They may run again. */
export function migrationSql({ schema = DEFAULT_SCHEMA, notify = true }: MigrateOptions = {}): string {
  const table = tableIn(schema);
  return `
create schema if not exists ${quote(schema)};
create table if not exists ${table} (
  id       text primary key,
  seq      bigint generated always as identity,
  action   text not null check (action in ('enqueue', 'cancel', 'cancel-job', 'reopen')),
  owners   text[] not null,
  queue    text,
  name     text,
  body     json not null,
  at       timestamptz not null default clock_timestamp(),
  state    text not null default 'pending' check (state in ('pending', 'done', 'refused')),
  due_at   timestamptz not null default clock_timestamp(),
  attempts integer not null default 0,
  code     text,
  reason   text,
  ended_at timestamptz
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index if not exists outbox_due on ${table} (due_at, seq) where state = 'pending';
create index if not exists outbox_changes on ${table} using gin (owners) with (fastupdate = off)
  where state = 'pending' and action in ('cancel', 'reopen');
create index if not exists outbox_ended on ${table} (state, ended_at) where state <> 'pending';
create or replace function ${quote(schema)}.outbox_notify() returns trigger language plpgsql as
  $$ begin perform pg_notify('${CHANNEL}', tg_table_schema); return null; end $$;
drop trigger if exists outbox_notify on ${table};
${notify ? `create trigger outbox_notify after insert on ${table} for each statement execute function ${quote(schema)}.outbox_notify();` : ''}
`;
}

/** Creates what is missing. Any number of processes may call it at the same time. */
export async function migrate(pool: Pool, options: MigrateOptions = {}): Promise<void> {
  await inTransaction(pool, async (client) => {
    await client.query(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    await client.query(migrationSql(options));
  });
}

/** The connection of a transaction that failed may be in the middle of a statement, so it is discarded. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  // Without a listener, a connection that is lost between two statements ends the process. The next statement fails.
  client.on('error', ignore);
  try {
    await client.query('begin');
    const answer = await work(client);
    await client.query('commit');
    client.off('error', ignore);
    client.release();
    return answer;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

function ignore(): void {}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
