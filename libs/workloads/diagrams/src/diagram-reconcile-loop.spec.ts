import 'reflect-metadata';
import { Journal, LifecycleModule, StoreUnavailableError, type Receipt } from '#lifecycle';
import type { Process } from '#workload-kit';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { defer } from '../../../../test/support/defer.js';
import { until } from '../../../../test/support/until.js';
import { askedBy } from './diagram-keys.js';
import { DiagramRepository } from './diagram-repository.js';
import { DiagramReconciler } from './diagram-reconciler.js';
import { diagrams } from './index.js';

@Module({})
class AppModule {}

const [A, B] = ['a'.repeat(32), 'b'.repeat(32)];

const SETTINGS = { CHROMIUM: 'off', DIAGRAM_HEAVY: 4, DIAGRAM_WAIT: 10_000 };

describe('the reconcile loop of diagrams', () => {
  let redis: Redis;
  let prefix: string;
  let context: INestApplicationContext;
  const running = new Set<unknown>();

  beforeEach(async () => {
    prefix = `test-${randomBytes(6).toString('hex')}`;
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    await redis.ping();
    const { setInterval: set, clearInterval: clear } = globalThis;
    vi.spyOn(globalThis, 'setInterval').mockImplementation((...args) => {
      const timer = set(...args);
      running.add(timer);
      return timer;
    });
    vi.spyOn(globalThis, 'clearInterval').mockImplementation((timer) => {
      running.delete(timer);
      clear(timer);
    });
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    running.clear();
    for await (const keys of redis.scanStream({ match: `*${prefix}*`, count: 1_000 }))
      if ((keys as string[]).length > 0) await redis.unlink(...(keys as string[]));
    await redis.quit();
  });

  async function start(app: Process): Promise<void> {
    const lifecycle = LifecycleModule.forRootAsync({ useFactory: () => ({ redis, prefix }) });
    const imports = [lifecycle, diagrams.moduleFor(app, SETTINGS, true)];
    context = await NestFactory.createApplicationContext({ module: AppModule, imports }, { logger: false });
  }

  /** Timers and listeners of this process that would outlive an application. */
  function subscriptions(): object {
    return {
      timers: running.size,
      sockets: process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length,
      listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
    };
  }

  it.each(['api', 'worker', 'janitor'] as const)('is released when the %s ends', async (app) => {
    const before = subscriptions();
    await start(app);
    // The library's own, and the loop's.
    expect(running.size).toBeGreaterThan(app === 'worker' ? 0 : 1);
    await context.close();
    await until(() => isDeepStrictEqual(subscriptions(), before), 'all of it is released');
  });

  it('waits on shutdown for the run in progress and starts no other', async () => {
    await start('janitor');
    const repository = context.get(DiagramRepository);
    const under = defer();
    const reconciled: string[] = [];
    vi.spyOn(repository, 'take').mockResolvedValue([A, B]);
    vi.spyOn(context.get(DiagramReconciler), 'reconcile').mockImplementation(async (id) => {
      reconciled.push(id);
      await under.promise;
    });
    await until(() => reconciled.length > 0, 'it reconciles one');
    let hasEnded = false;
    const end = context.close().then(() => (hasEnded = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(hasEnded).toBe(false);
    under.resolve();
    await end;
    expect([reconciled, running.size]).toEqual([[A], 0]);
  });

  it('handles the requests of cancelled owners, and ends jobs that a dead process left', async () => {
    await start('janitor');
    const [repository, reconciler] = [context.get(DiagramRepository), context.get(DiagramReconciler)];
    vi.spyOn(repository, 'take').mockResolvedValueOnce(['diagrams/j1']).mockResolvedValue([]);
    const end = vi.spyOn(reconciler, 'end').mockResolvedValue();
    const gone = vi.spyOn(reconciler, 'ownerGone');
    await repository.noteGone('trip:a b', '6');
    await context.get(DiagramReconciler).reconcileOnce();
    expect([end.mock.calls, gone.mock.calls]).toEqual([[['0', 'diagrams/j1']], [['trip:a b', '6']]]);
    expect(await redis.keys(`${prefix}:{diagrams}:gone`)).toEqual([]);
    await context.close();
  });

  it('keeps what an owner requests again while its earlier request is removed', async () => {
    await start('janitor');
    const [repository, reconciler] = [context.get(DiagramRepository), context.get(DiagramReconciler)];
    const request = { type: 'graphviz', output: 'svg', source: 'a' } as const;
    const askedFor = (): Promise<string[]> => redis.zrange(askedBy(prefix, 'trip:1'), '0', '-1');
    await repository.ask(A, request, { owner: 'trip:1', epoch: '5' });
    await redis.zadd(askedBy(prefix, 'trip:1'), 1, A, 1, B);
    const strike = repository.strike.bind(repository);
    vi.spyOn(repository, 'strike').mockImplementation(async (id, owner, epoch) => {
      const word = await strike(id, owner, epoch);
      if (id === A && epoch === '6') await repository.ask(A, request, { owner, epoch });
      return word;
    });
    await reconciler.ownerGone('trip:1', '6');
    expect(await askedFor()).toContain(A);
    await reconciler.ownerGone('trip:1', '7');
    expect(await askedFor()).toEqual([B]);
    await context.close();
  });

  it('records a cancelled owner first, and retries until the store accepts it', async () => {
    await start('api');
    const repository = context.get(DiagramRepository);
    const gone = vi
      .spyOn(context.get(DiagramReconciler), 'ownerGone')
      .mockRejectedValue(new StoreUnavailableError('away'));
    const note = vi.spyOn(repository, 'noteGone').mockRejectedValueOnce(new StoreUnavailableError('away'));
    void context
      .get(Journal)
      .ownerCancelled({ owner: 'trip:1', epoch: '6', reason: 'off', by: 'shop' } as Receipt);
    expect(note).toHaveBeenCalledTimes(1);
    await until(() => gone.mock.calls.length > 0, 'it is seen to');
    expect(note).toHaveBeenCalledTimes(2);
    expect(await redis.zrange(`${prefix}:{diagrams}:gone`, '0', '-1')).toEqual(['6 trip:1']);
    await context.close();
  });

  it('continues with the other diagrams when one fails', async () => {
    await start('janitor');
    vi.spyOn(context.get(DiagramRepository), 'take').mockResolvedValueOnce([A, B]).mockResolvedValue([]);
    const tend = vi
      .spyOn(context.get(DiagramReconciler), 'reconcile')
      .mockRejectedValue(new Error('told to'));
    await context.get(DiagramReconciler).reconcileOnce();
    expect(tend.mock.calls).toEqual([[A], [B]]);
    await context.close();
  });
});
