import 'reflect-metadata';
import { LifecycleModule } from '#lifecycle';
import { ReconcileLoop, type Process } from '#workload-kit';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { defer } from '../../../../test/support/defer.js';
import { until } from '../../../../test/support/until.js';
import { SiteReconciler } from './site-reconciler.js';
import { sites } from './index.js';
import { SiteRepository } from './site-repository.js';

@Module({})
class AppModule {}

describe('the reconcile loop of an api', () => {
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
    const imports = [lifecycle, sites.moduleFor(app, {}, true)];
    context = await NestFactory.createApplicationContext({ module: AppModule, imports }, { logger: false });
  }

  function hasRelay(): boolean {
    try {
      return Boolean(context.get(ReconcileLoop, { strict: false }));
    } catch {
      return false;
    }
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
    // Only the api has the loop: a janitor has a schedule, and a single sweep reconciles nothing.
    expect(hasRelay()).toBe(app === 'api');
    expect(running.size).toBeGreaterThan(app === 'api' ? 1 : 0);
    await context.close();
    await until(() => isDeepStrictEqual(subscriptions(), before), 'all of it is released');
  });

  it('waits on shutdown for the run in progress and starts no other', async () => {
    await start('api');
    const under = defer();
    const reconciled: string[] = [];
    vi.spyOn(context.get(SiteRepository), 'take').mockResolvedValue(['a', 'b']);
    vi.spyOn(context.get(SiteReconciler), 'reconcile').mockImplementation(async (siteId) => {
      reconciled.push(siteId);
      await under.promise;
    });
    await until(() => reconciled.length > 0, 'it reconciles a site');
    let hasEnded = false;
    const end = context.close().then(() => (hasEnded = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(hasEnded).toBe(false);
    under.resolve();
    await end;
    expect([reconciled, running.size]).toEqual([['a'], 0]);
  });
});
