import { meansUnavailable } from '#nestjs';
import {
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type Provider,
  type Type,
} from '@nestjs/common';
import { SHARDS } from './ids.js';
import type { Semaphore } from './semaphore.js';

/**
 * Continues what a process left undone when it died. Its repository lists what is due. An item that is taken is hidden from
 * other processes for a while, and is due again if this one dies too, so any number of processes may run a reconciler.
 */
export abstract class Reconciler implements OnModuleDestroy {
  protected readonly log: Logger;
  protected isEnding = false;

  constructor(name: string) {
    this.log = new Logger(name);
  }

  abstract reconcileOnce(): Promise<unknown>;

  /** Stops the current run before shutdown waits for it. */
  onModuleDestroy(): void {
    this.isEnding = true;
  }

  /** Logs an error, unless the store is away: the store's own monitoring logs that. */
  logError(error: unknown): void {
    if (meansUnavailable(error)) return;
    this.log.warn(error);
  }

  /** Handles items one after another. A failed one stays due, and does not hold up the others. */
  protected async inTurn<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    for (const item of items) {
      if (this.isEnding) return;
      await work(item).catch((error: unknown) => this.logError(error));
    }
  }

  /** Like `inTurn`, with several items at once. */
  protected async concurrently<T>(
    items: readonly T[],
    semaphore: Semaphore,
    work: (item: T) => Promise<void>,
  ): Promise<void> {
    const one = (item: T): Promise<void> =>
      semaphore.run(() => work(item)).catch((error: unknown) => this.logError(error));
    await Promise.all(items.map(one));
  }

  /** Handles what is due in each of the sixteen lists. */
  protected async perShard(
    take: (shard: string) => Promise<readonly string[]>,
    work: (id: string, shard: string) => Promise<void>,
  ): Promise<void> {
    for (const shard of SHARDS) {
      if (this.isEnding) return;
      await this.inTurn(await take(shard), (id) => work(id, shard));
    }
  }
}

/** Runs a reconciler at intervals, never twice at once. Shutdown waits for the run in progress. */
export class ReconcileLoop implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private underWay: Promise<unknown> | undefined;

  constructor(
    private readonly reconciler: Reconciler,
    private readonly everyMs: number,
    private readonly isFirstAtStart = false,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => this.runOnce(), this.everyMs).unref();
    if (this.isFirstAtStart) this.runOnce();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.underWay;
  }

  private runOnce(): void {
    this.underWay ??= this.reconciler
      .reconcileOnce()
      .catch((error: unknown) => this.reconciler.logError(error))
      .finally(() => (this.underWay = undefined));
  }
}

/**
 * The provider of a loop, for processes in which no schedule runs the reconciler. By default it first waits for an interval.
 */
export function reconcileEvery(
  everyMs: number,
  reconciler: Type<Reconciler>,
  isFirstAtStart = false,
): Provider {
  return {
    provide: ReconcileLoop,
    inject: [reconciler],
    useFactory: (each: Reconciler) => new ReconcileLoop(each, everyMs, isFirstAtStart),
  };
}
