import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { findServer } from '#runtime';
import { Fleet } from '../support/fleet.js';
import { TestStore } from '../support/store.js';
import type { TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

/** The embedded store keeps nothing, so it has no earlier state to return to. */
describe.runIf(findServer() !== undefined)('a store that restarts', () => {
  let store: TestStore;
  let fleet: Fleet;
  const start = async (...args: string[]): Promise<void> => {
    store = await TestStore.start(...args);
    fleet = await Fleet.start({ storeUrl: store.url, janitor: true });
    await untilSeen(2);
  };
  afterEach(async () => {
    await fleet.stop();
    await store.stop();
  });

  it('without writes that it had answered: each process reports it once and counts it', async () => {
    await start('--appendonly', 'no');
    await ask((redis) => redis.save());
    const { body } = await fleet.request('POST', '/v1/owners/trip/1/cancel', {
      reason: 'r',
      cancelId: 'c-1',
    });
    expect(body['cancelId']).toBe('c-1');
    await untilSeen(2);
    await store.kill();
    await store.restart();

    for (const process of fleet.processes) await until(() => saidOf(process).length > 0, 'it is logged');
    await untilSeen(3);
    expect((await fleet.request('GET', '/v1/cancellations/c-1')).status).toBe(404);
    for (const process of fleet.processes) {
      expect(saidOf(process)).toEqual([
        expect.objectContaining({ level: 50, keptUntil: expect.any(String) as string }),
      ]);
      expect(await rollbacksOf(process)).toBe(1);
    }
  });

  it('with every write that it had answered: no process reports anything, nor when processes start or end', async () => {
    await start();
    await store.kill();
    await store.restart();
    await untilSeen(2);
    const worker = fleet.addWorker();
    await fleet.untilReady(worker);
    worker.kill('SIGTERM');
    await worker.exited;
    await untilSeen(2);

    for (const process of fleet.processes) expect(saidOf(process)).toEqual([]);
    expect(await rollbacksOf(fleet.api)).toBe(0);
  });

  /** Waits for more markers than these; each process reads them once a second, as often as one is written. */
  async function untilSeen(more: number): Promise<void> {
    const first = await numberOfMarker();
    await until(async () => (await numberOfMarker()) > first + more, `${more} markers later`);
  }

  async function numberOfMarker(): Promise<number> {
    return parseInt((await ask((redis) => redis.lindex(`${fleet.prefix}:{marker}`, 0))) ?? '0', 10);
  }

  async function ask<T>(question: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = new Redis(store.url);
    try {
      return await question(redis);
    } finally {
      redis.disconnect();
    }
  }
});

function saidOf(process: TestProcess): readonly Record<string, unknown>[] {
  return process.facts().filter(({ event }) => event === 'store.went-back');
}

async function rollbacksOf({ url }: TestProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^mooring_store_rollbacks_total\S* (\d+)$/m.exec(text)?.[1]);
}
