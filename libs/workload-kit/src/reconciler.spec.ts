import { StoreUnavailableError } from '#nestjs';
import { Logger } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { defer } from '../../../test/support/defer.js';
import { until } from '../../../test/support/until.js';
import { Reconciler, ReconcileLoop } from './reconciler.js';
import { Semaphore } from './semaphore.js';

/** Two items are due in the first shard. */
class Things extends Reconciler {
  readonly done: string[] = [];
  runs = 0;

  constructor(private readonly work: (id: string) => Promise<void> = async () => undefined) {
    super('things');
  }

  async reconcileOnce(): Promise<void> {
    this.runs += 1;
    await this.perShard(
      async (shard) => (shard === '0' ? ['a', 'b'] : []),
      async (id, shard) => {
        this.done.push(`${shard} ${id}`);
        await this.work(id);
      },
    );
  }

  both(ids: readonly string[]): Promise<void> {
    return this.concurrently(ids, new Semaphore(2), this.work);
  }
}

describe('a reconciler', () => {
  let warned: ReturnType<typeof vi.spyOn>;
  beforeEach(() => void (warned = vi.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined)));
  afterEach(() => void vi.restoreAllMocks());

  it('continues with the other items when one fails', async () => {
    const things = new Things(() => Promise.reject(new Error('told to')));
    await things.reconcileOnce();
    await things.both(['c', 'd']);
    expect(things.done).toEqual(['0 a', '0 b']);
    expect(warned).toHaveBeenCalledTimes(4);
  });

  it('does not log that the store is unavailable, because others do', async () => {
    await new Things(() => Promise.reject(new StoreUnavailableError('away'))).reconcileOnce();
    expect(warned).not.toHaveBeenCalled();
  });

  it('is awaited at shutdown and starts nothing more', async () => {
    const going = defer();
    const things = new Things(() => going.promise);
    const loop = new ReconcileLoop(things, 1);
    loop.onApplicationBootstrap();
    await until(() => things.done.length > 0, 'it reconciles an item');
    things.onModuleDestroy();
    let hasEnded = false;
    const end = loop.beforeApplicationShutdown().then(() => (hasEnded = true));
    await pause(20);
    expect(hasEnded).toBe(false);
    going.resolve();
    await end;
    await pause(20);
    expect([things.runs, things.done]).toEqual([1, ['0 a']]);
  });

  it('runs again after a failure, and at the start if requested', async () => {
    const things = new Things();
    const reconcile = vi.spyOn(things, 'reconcileOnce').mockRejectedValue(new Error('told to'));
    const loop = new ReconcileLoop(things, 10, true);
    loop.onApplicationBootstrap();
    expect(reconcile).toHaveBeenCalledTimes(1);
    await until(() => reconcile.mock.calls.length > 2, 'it runs on');
    await loop.beforeApplicationShutdown();
  });
});
