import type { Redis } from 'ioredis';
import { sessionOf } from './sessions.js';
import { within } from './within.js';

/** While one barrier waits, the next starts after this: a sync that is under way does not cover what comes now. */
const GAP_MS = 100;
const MOST = 10;
/** Beyond the time that the server was told to wait. */
const ANSWER_MS = 500;

export interface Barrier {
  /** Of the server that answered. */
  readonly runId: string;
  readonly isHeld: boolean;
}

/**
 * Barriers at one server. All callers that come before one starts share it. A server that waits answers nothing else over that
 * connection, so these have connections of their own; one that broke is not used again.
 */
export class Barriers {
  private readonly free: Redis[] = [];
  private readonly busy = new Map<Redis, Promise<unknown>>();
  private next: Promise<Barrier | undefined> | undefined;
  private startedAt = -Infinity;
  /** The last barrier was not confirmed. */
  isFailing = false;

  constructor(
    private readonly client: Redis,
    private readonly prove: (redis: Redis) => Promise<boolean>,
    private readonly waitMs: number,
  ) {}

  /** The next barrier that starts; undefined if the server could not be asked. */
  join(): Promise<Barrier | undefined> {
    this.next ??= this.start();
    return this.next;
  }

  close(): void {
    for (const redis of [...this.free, ...this.busy.keys()]) redis.disconnect();
  }

  private async start(): Promise<Barrier | undefined> {
    await this.turn();
    this.next = undefined;
    this.startedAt = performance.now();
    const redis = this.free.pop() ?? this.open();
    // When the connection, or the server, is gone, nothing is known.
    const asked = within(this.waitMs + ANSWER_MS, this.ask(redis)).catch(() => undefined);
    this.busy.set(redis, asked);
    const barrier = await asked;
    this.busy.delete(redis);
    if (barrier) this.free.push(redis);
    else redis.disconnect();
    this.isFailing = !barrier?.isHeld;
    return barrier;
  }

  private async turn(): Promise<void> {
    await Promise.resolve();
    while (this.busy.size > 0) {
      const restMs = this.startedAt + GAP_MS - performance.now();
      if (restMs <= 0 && this.busy.size < MOST) return;
      await within(restMs > 0 ? restMs : this.waitMs, Promise.race(this.busy.values()));
    }
  }

  private async ask(redis: Redis): Promise<Barrier> {
    const session = await sessionOf(redis);
    const isHeld = await this.prove(redis);
    return { runId: session.runId, isHeld: isHeld && !session.isOver };
  }

  private open(): Redis {
    const redis = this.client.duplicate({
      // A command of a broken connection is not sent again: another server could get it.
      autoResendUnfulfilledCommands: false,
      enableAutoPipelining: false,
      // A barrier has its own time limit.
      commandTimeout: undefined,
      enableOfflineQueue: true,
      retryStrategy: () => null,
      sentinelRetryStrategy: () => null,
      lazyConnect: true,
    });
    redis.on('error', () => undefined);
    redis.once('end', () => {
      const at = this.free.indexOf(redis);
      if (at >= 0) this.free.splice(at, 1);
    });
    return redis;
  }
}
