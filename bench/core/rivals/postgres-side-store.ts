import { Client } from 'pg';
import { startPostgres, type PostgresServer } from '../../harness/postgres-server.js';
import type { SideStore } from '../side-store.js';

/** A PostgreSQL of one side's own. */
export class PostgresSideStore implements SideStore {
  private constructor(
    private readonly server: PostgresServer,
    private readonly client: Client,
    private readonly tables: readonly string[],
  ) {}

  /** @param tables those that hold jobs, once the side has made them */
  static async start(bin: string, tables: readonly string[]): Promise<PostgresSideStore> {
    const server = await startPostgres(bin);
    const client = new Client(server.url);
    await client.connect();
    return new PostgresSideStore(server, client, tables);
  }

  get url(): string {
    return this.server.url;
  }

  async empty(): Promise<void> {
    await this.client.query(`TRUNCATE ${this.tables.join(', ')}`);
  }

  async cpuMs(): Promise<number> {
    return this.server.cpuMs();
  }

  /** On disk, as the tables and their indexes are. */
  async memoryBytes(): Promise<number> {
    const { rows } = await this.client.query<{ bytes: string }>(
      'SELECT pg_database_size(current_database()) AS bytes',
    );
    return Number(rows[0]!.bytes);
  }

  async stop(): Promise<void> {
    await this.client.end();
    await this.server.stop();
  }
}
