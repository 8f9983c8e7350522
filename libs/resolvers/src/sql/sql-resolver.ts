import { OwnerResolver, type Canaries, type OwnerLife } from '#lifecycle';
import type { Pool, PoolClient } from 'pg';
import { loadPg } from './load-pg.js';

export interface SqlResolverOptions {
  readonly url: string;
  /** Answers one column: of the ids in `$1` those that live. */
  readonly query: string;
  /** For each step: a connection, and the query. Default 2 s. */
  readonly timeoutMs?: number;
  readonly canaries?: Canaries;
}

const TIMEOUT_MS = 2_000;
const MOST_CONNECTIONS = 4;

/** Asks a PostgreSQL database, a batch at a time: who has a row lives, who has none is gone. */
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
      max: MOST_CONNECTIONS,
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
    // PostgreSQL has no text with a NUL; one such id would spoil the question for all.
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
      // It may be in the middle of something, and is not used again.
      client.release(true);
      throw error;
    }
  }

  /** In a transaction: poolers between us and the database keep no other settings, and nothing can be written. */
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

/** However much it would find, no more is fetched than tells that it is too much. */
function bounded(query: string): string {
  return `select distinct * from (\n${query.replace(/[\s;]+$/, '')}\n) as living limit $2`;
}

function text(id: unknown): string {
  if (typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint') return String(id);
  throw new Error('The query answers with what is no id.');
}
