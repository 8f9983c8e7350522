import 'reflect-metadata';
import '#nestjs/register';
import { Owners } from '#core';
import { MooringModule, QueueReader } from '#nestjs';
import { ReconcileLoop, WorkloadStoreModule, type Process } from '#workload-kit';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { startNestApp } from '../../../test/support/nest-app.js';
import { until } from '../../../test/support/until.js';
import { WORKLOADS } from './workloads.js';

const SETTINGS = { CHROMIUM: 'off', DIAGRAM_HEAVY: 4, DIAGRAM_WAIT: 10_000 };
/** The other processes of a workload have a schedule, or nothing to reconcile. */
const LOOPS: Record<string, Process[]> = { sites: ['api'], diagrams: ['api', 'janitor'] };
const PROCESSES: Process[] = ['api', 'worker', 'janitor'];
/** Containers need a container engine: their own specs check the shutdown. */
const CASES = WORKLOADS.filter(({ name }) => name !== 'containers').flatMap((workload) =>
  PROCESSES.map((process) => ({ name: workload.name, process, workload })),
);

describe('a workload', () => {
  const running = new Set<unknown>();
  let redis: Redis;
  let prefix: string;

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
    const keys = await redis.keys(`${prefix}*`);
    if (keys.length > 0) await redis.unlink(...keys);
    await redis.quit();
  });

  /** Timers and listeners of this process that would outlive an application. */
  function subscriptions(): object {
    return {
      timers: running.size,
      sockets: process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length,
      listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
    };
  }

  it.each(CASES)(
    'leaves nothing of $name behind when the $process shuts down',
    async ({ name, process, workload }) => {
      const before = subscriptions();
      const imports = [
        MooringModule.forRoot({ connection: redis, prefix, listeners: [] }),
        WorkloadStoreModule.forRoot(redis, prefix),
        await workload.moduleFor(process, SETTINGS, true),
      ];
      const context = await startNestApp({ imports });
      // Connected before the shutdown.
      await Promise.all([context.get(Owners).openReceipts(), context.get(QueueReader).read()]);
      let hasLoop = true;
      try {
        context.get(ReconcileLoop, { strict: false });
      } catch {
        hasLoop = false;
      }
      expect(hasLoop).toBe(LOOPS[name]?.includes(process) ?? false);
      await context.close();
      await until(() => isDeepStrictEqual(subscriptions(), before), 'all of it is released');
    },
  );
});
