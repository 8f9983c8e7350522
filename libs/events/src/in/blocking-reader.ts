import type { Cluster, Redis } from 'ioredis';

type Connection = Redis | Cluster;

/** How much longer than it was to wait a read may take, before its connection is taken to be dead. */
const GRACE_MS = 2_000;

/**
 * Reads that wait in the store, over a connection of their own: on a shared one all others would wait behind them. One that
 * is not answered in time, because the store is frozen or the other end has gone without a word, gets a new connection.
 */
export class BlockingReader {
  private connection: Connection | undefined;
  private readonly stopping = new AbortController();

  constructor(private readonly redis: Connection) {}

  async ask<T>(waitMs: number, question: (redis: Connection) => Promise<T>): Promise<T> {
    this.stopping.signal.throwIfAborted();
    this.connection ??= this.open();
    try {
      return await this.withinLimit(waitMs + GRACE_MS, question(this.connection));
    } catch (error) {
      if (error instanceof NoAnswer) this.close();
      throw error;
    }
  }

  stop(): void {
    this.stopping.abort(new NoAnswer('this process ends'));
    this.close();
  }

  private withinLimit<T>(ms: number, answer: Promise<T>): Promise<T> {
    const { signal } = this.stopping;
    return new Promise((resolve, reject) => {
      const give = (): void => reject(signal.reason as Error);
      const timer = setTimeout(() => reject(new NoAnswer('the store did not answer')), ms);
      signal.addEventListener('abort', give, { once: true });
      answer.then(resolve, reject).finally(() => {
        clearTimeout(timer);
        signal.removeEventListener('abort', give);
      });
    });
  }

  private open(): Connection {
    const connection = this.redis.isCluster
      ? (this.redis as Cluster).duplicate()
      : (this.redis as Redis).duplicate();
    // Said by the shared connection already, which goes to the same store.
    connection.on('error', () => undefined);
    return connection;
  }

  private close(): void {
    this.connection?.disconnect();
    this.connection = undefined;
  }
}

class NoAnswer extends Error {}
