import type { Cluster, Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';

const BETWEEN_MS = 2;
const LAST_ANSWER_MS = 100;

/**
 * How long the store keeps another client waiting: a connection of its own asks again and again. What this process itself
 * was too busy for counts too; so the measure errs to the side of going slower.
 */
export class StallGauge {
  private readonly redis: Redis | Cluster;
  private readonly ending = new AbortController();
  private readonly done: Promise<void>;
  private worst = 0;

  constructor(redis: Redis | Cluster) {
    this.redis = redis.isCluster ? (redis as Cluster).duplicate() : (redis as Redis).duplicate();
    // What goes wrong with it is said by the connection it was made from.
    this.redis.on('error', ignore);
    this.done = this.measure();
  }

  /** The longest wait since the last call, ms. */
  take(): number {
    const { worst } = this;
    this.worst = 0;
    return worst;
  }

  async stop(): Promise<void> {
    this.ending.abort();
    this.redis.disconnect();
    // A question on a connection that broke may never be answered: no sweep waits for that.
    await Promise.race([this.done, pause(LAST_ANSWER_MS, undefined, { ref: false })]);
  }

  private async measure(): Promise<void> {
    const { signal } = this.ending;
    while (!signal.aborted) {
      try {
        if (this.redis.status === 'ready') {
          const askedAt = performance.now();
          await this.redis.ping();
          this.worst = Math.max(this.worst, performance.now() - askedAt);
        }
        await pause(BETWEEN_MS, undefined, { signal, ref: false });
      } catch {
        await pause(BETWEEN_MS, undefined, { ref: false });
      }
    }
  }
}

function ignore(): void {}
