import type { Cluster, Redis } from 'ioredis';

type Connection = Redis | Cluster;

/** Extra time for a blocking read. After it the connection counts as dead. */
const GRACE_MS = 2_000;

/**
 * Runs blocking reads on their own connection, because they would block other commands on a shared one. If a read is not
 * answered in time, because the store is frozen or the connection was lost silently, the next read opens a new connection.
 */
export class BlockingReader {
  private connection: Connection | undefined;
  private readonly stopping = new AbortController();

  constructor(private readonly redis: Connection) {}

  async read<T>(waitMs: number, command: (redis: Connection) => Promise<T>): Promise<T> {
    this.stopping.signal.throwIfAborted();
    this.connection ??= this.open();
    try {
      return await this.withinLimit(waitMs + GRACE_MS, command(this.connection));
    } catch (error) {
      if (error instanceof NoAnswerError) this.close();
      throw error;
    }
  }

  stop(): void {
    this.stopping.abort(new NoAnswerError('this process is shutting down'));
    this.close();
  }

  private withinLimit<T>(ms: number, answer: Promise<T>): Promise<T> {
    const { signal } = this.stopping;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason as Error);
      const timer = setTimeout(() => reject(new NoAnswerError('the store did not answer')), ms);
      signal.addEventListener('abort', onAbort, { once: true });
      answer.then(resolve, reject).finally(() => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      });
    });
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

class NoAnswerError extends Error {}
