import type { Cluster, Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';

type Connection = Redis | Cluster;

/** Extra time for a blocking read. After it the connection counts as dead. */
const GRACE_MS = 2_000;

/**
 * Runs blocking reads on their own connection, because they would block other commands on a shared one. If a read is not
 * answered in time, because the store is frozen or the connection was lost silently, the next read opens a new connection.
 */
export class BlockingReader {
  private connection: Connection | undefined;
  private reading = new AbortController();
  private isStopped = false;

  constructor(private readonly redis: Connection) {}

  async read<T>(waitMs: number, command: (redis: Connection) => Promise<T>): Promise<T> {
    if (this.isStopped) throw new Error('this process is shutting down');
    const answer = command((this.connection ??= this.open()));
    const reading = (this.reading = new AbortController());
    const late = pause(waitMs + GRACE_MS, undefined, { signal: reading.signal }).then(() => {
      this.close();
      throw new Error('the store did not answer');
    });
    return Promise.race([answer, late]).finally(() => reading.abort());
  }

  stop(): void {
    this.isStopped = true;
    this.reading.abort();
    this.close();
  }

  private open(): Connection {
    const connection = this.redis.isCluster
      ? (this.redis as Cluster).duplicate()
      : (this.redis as Redis).duplicate();
    // The shared connection to the same store already reports errors.
    connection.on('error', () => undefined);
    return connection;
  }

  private close(): void {
    this.connection?.disconnect();
    this.connection = undefined;
  }
}
