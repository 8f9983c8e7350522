import { OwnerResolver, type Canaries, type OwnerLife } from '#nestjs';
import type { Pool, PoolClient } from 'pg';
import { loadPg } from './load-pg.js';

export interface SqlResolverOptions {
  readonly url: string;
  /** Query that returns one column: the ids of `$1` that exist. */
  readonly query: string;
  /** Limit for the connection and again for the query. Default 2 s. */
  readonly timeoutMs?: number;
  readonly canaries?: Canaries;
}

const TIMEOUT_MS = 2_000;
const MAX_CONNECTIONS = 4;

/** Asks a PostgreSQL database in batches: an owner with a row is alive, one without is gone. */
export class SqlResolver extends OwnerResolver {
  override readonly canaries: Canaries | undefined;
  override readonly timeoutMs: number;
  private readonly pool: Pool;
  private readonly query: string;

  constructor({ url, query, timeoutMs = TIMEOUT_MS, canaries }: SqlResolverOptions) {
    super();
    this.canaries = canaries;
    this.timeoutMs = timeoutMs;
    this.query = bounded(query);
    this.pool = new (loadPg().Pool)({
      connectionString: url,
      application_name: 'mooring',
      max: MAX_CONNECTIONS,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      allowExitOnIdle: true,
    });
    // Without a listener, an error of a connection ends the process. The pool listens while a connection is idle; from
    // the moment it is taken out, also between two statements, this one does. The next statement fails: owners stay unknown.
    this.pool.on('error', () => undefined);
    this.pool.on('connect', (client) => client.on('error', () => undefined));
  }

  async resolve(ids: string[], signal: AbortSignal): Promise<ReadonlyMap<string, OwnerLife>> {
    // PostgreSQL text cannot contain NUL; one such id would fail the whole query.
    const askable = ids.filter((id) => !id.includes('\0'));
    const asked = new Set(askable);
    const living = new Set(await this.livingOf(askable, signal));
    for (const id of living) {
      if (!asked.has(id)) throw new Error('The query answers with an owner that was not asked.');
    }
    const lives = new Map<string, OwnerLife>(ids.map((id) => [id, 'unknown']));
    for (const id of askable) lives.set(id, living.has(id) ? 'alive' : 'gone');
    return lives;
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  private async livingOf(ids: string[], signal: AbortSignal): Promise<string[]> {
    const client = await this.pool.connect();
    try {
      signal.throwIfAborted();
      const living = await this.ask(client, ids);
      client.release();
      return living;
    } catch (error) {
      // The connection may be in the middle of a statement, so it is discarded.
      client.release(true);
      throw error;
    }
  }

  /** Uses a read-only transaction: connection poolers keep no other settings, and the query cannot write. */
  private async ask(client: PoolClient, ids: string[]): Promise<string[]> {
    await client.query(`begin read only; set local statement_timeout = ${Math.ceil(this.timeoutMs)}`);
    const { rows, fields } = await client.query<unknown[]>({
      text: this.query,
      values: [ids, ids.length + 1],
      rowMode: 'array',
    });
    await client.query('commit');
    if (fields.length !== 1) throw new Error(`The query answers ${fields.length} columns; one was expected.`);
    if (rows.length > ids.length) throw new Error('The query answers with more owners than were asked.');
    return rows.map(([id]) => text(id));
  }
}

/** Limits the rows to one more than allowed, which is enough to detect too many. */
function bounded(query: string): string {
  return `select distinct * from (\n${query.replace(/[\s;]+$/, '')}\n) as living limit $2`;
}

function text(id: unknown): string {
  if (typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint') return String(id);
  throw new Error('The query answers with what is no id.');
}
