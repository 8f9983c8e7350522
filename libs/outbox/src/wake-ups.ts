import type { Pool, PoolClient } from 'pg';
import { CHANNEL } from './schema.js';

/** Ends the wait of a relay when rows are committed, or when the time to poll has come. */
export class WakeUps {
  private client: PoolClient | undefined;
  private isAwake = false;
  private wakeUp: (() => void) | undefined;

  constructor(
    private readonly pool: Pool,
    private readonly schema: string,
  ) {}

  /** A notification since the last wait ends it at once. Rejects if it cannot listen; the wait may be repeated. */
  async wait(ms: number): Promise<void> {
    await this.listen();
    if (!this.isAwake)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.isAwake = false;
  }

  wake(): void {
    this.isAwake = true;
    this.wakeUp?.();
  }

  close(): void {
    this.client?.release(true);
    this.client = undefined;
  }

  /** Rows that were committed before it listens are found by the next claim: it wakes for them. */
  private async listen(): Promise<void> {
    if (this.client) return;
    const client = await this.pool.connect();
    client.on('error', () => this.lose(client));
    client.on('end', () => this.lose(client));
    client.on('notification', ({ payload }) => {
      if (payload === this.schema) this.wake();
    });
    try {
      await client.query(`listen ${CHANNEL}`);
    } catch (error) {
      client.release(true);
      throw error;
    }
    this.client = client;
    this.wake();
  }

  private lose(client: PoolClient): void {
    if (this.client !== client) return;
    this.close();
    this.wake();
  }
}
