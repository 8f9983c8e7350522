import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Log } from '../../log/log.js';
import { RollbackWatch } from './rollback-watch.js';

interface Process {
  readonly watch: RollbackWatch;
  readonly said: Record<string, unknown>[];
  readonly registry: Registry;
}

describe('the watch for a store that lost writes', () => {
  let redis: Redis;
  let prefix: string;
  let key: string;
  let processes: Process[];
  beforeEach(() => {
    redis = new Redis(inject('storeUrl'));
    prefix = `test-${randomUUID()}`;
    key = `${prefix}:{marker}`;
    processes = [];
  });
  afterEach(async () => {
    for (const { watch } of processes) watch.close();
    await redis.del(key);
    await redis.quit();
  });

  const start = async (): Promise<Process> => {
    await redis.ping();
    const said: Record<string, unknown>[] = [];
    const log = { error: (fields: Record<string, unknown>) => void said.push(fields) } as unknown as Log;
    const registry = new Registry();
    const process = { watch: new RollbackWatch(redis, prefix, log, registry), said, registry };
    // Checks when the test says so.
    process.watch.close();
    processes.push(process);
    return process;
  };
  const look = async (...which: Process[]): Promise<void> => {
    for (const { watch } of which) await watch.look();
  };
  const counts = (): Promise<number[]> =>
    Promise.all(
      processes.map(async ({ registry }) => {
        const { values } = await registry.getSingleMetric('mooring_store_rollbacks_total')!.get();
        return values[0]!.value;
      }),
    );
  /** Makes the newest marker older. */
  const age = async (ms: number): Promise<void> => {
    const [number, runId, at] = (await redis.lindex(key, 0))!.split('|');
    await redis.lset(key, 0, `${number}|${runId}|${Number(at) - ms}`);
  };

  it('reports nothing about a store that continues, whichever process writes the next marker', async () => {
    const [one, other] = [await start(), await start()];
    await look(one, other, one, other);
    expect(await redis.llen(key)).toBe(1);
    // A later process finds an old marker.
    await age(5_000);
    await look(await start());
    expect(await redis.llen(key)).toBe(2);
    expect(await counts()).toEqual([0, 0, 0]);
  });

  it('writes one marker a second in total, and keeps a minute of them', async () => {
    const one = await start();
    const old = Array.from({ length: 80 }, (_, i) => `${80 - i}|x|${1_000_000 - i * 1_000}`);
    await redis.rpush(key, ...old);
    await look(one);
    expect(await redis.lrange(key, 0, 1)).toEqual([expect.stringMatching(/^81\|/), old[0]]);
    expect(await redis.llen(key)).toBe(60);
    expect(await redis.pttl(key)).toBeGreaterThan(6 * 86_400_000);
  });

  it('reports a loss once, also in processes that had not seen the lost markers', async () => {
    const [saw, sawNot] = [await start(), await start()];
    await look(saw, sawNot);
    const kept = await redis.lindex(key, 0);
    await redis.lpush(key, `2|lost|${Date.now()}`);
    await look(saw);
    await redis.lpop(key);

    await look(saw, sawNot, saw, sawNot);
    expect(await counts()).toEqual([1, 1]);
    const keptUntil = new Date(Number(kept!.split('|')[2])).toISOString();
    expect(saw.said).toEqual([{ event: 'store.went-back', sawAt: expect.any(String) as string, keptUntil }]);
    expect(sawNot.said).toEqual([expect.objectContaining({ keptUntil })]);
  });

  it('counts one event when several processes miss markers, and another when it happens again', async () => {
    const [one, other] = [await start(), await start()];
    await look(one);
    const whole = await redis.lrange(key, 0, -1);
    const goBack = async (): Promise<void> => {
      await redis.del(key);
      await redis.rpush(key, ...whole);
    };
    await redis.lpush(key, `2|lost|${Date.now()}`);
    await look(one, other);
    await goBack();
    await look(one, other, one, other);
    expect(await counts()).toEqual([1, 1]);

    await goBack();
    await look(other, one, other, one);
    expect(await counts()).toEqual([2, 2]);
  });

  it('names at each rollback the newest marker that the store kept, even soon after another rollback', async () => {
    await redis.rpush(key, `1|kept|${Date.now() - 500}`);
    const both = [await start(), await start()];
    // Saved before each rollback: the first marker, then a later one, then the one that reports a rollback.
    for (const later of [[], [`3|kept|${Date.now()}`], []]) {
      await redis.lpush(key, ...later, `9|lost|${Date.now()}`);
      await look(...both);
      await redis.lpop(key);
      const [, , keptAt] = (await redis.lindex(key, 0))!.split('|');
      await look(...both, ...both);
      const keptUntil = new Date(Number(keptAt)).toISOString();
      expect(both.map(({ said }) => said.at(-1)!['keptUntil'])).toEqual([keptUntil, keptUntil]);
    }
    expect(await counts()).toEqual([3, 3]);
  });

  it('reports an empty store as empty or as another one', async () => {
    const one = await start();
    await look(one);
    await redis.del(key);
    await look(one, one);
    expect(one.said).toEqual([{ event: 'store.went-back', sawAt: expect.any(String) as string }]);
  });

  it('reports nothing when it was disconnected for longer than markers are kept', async () => {
    const one = await start();
    await look(one);
    const later = Array.from({ length: 60 }, (_, i) => `${100 - i}|x|${Date.now() - i}`);
    await redis.del(key);
    await redis.rpush(key, ...later);
    await look(one);
    expect(await counts()).toEqual([0]);
  });

  it('continues when the clock of the store is set back', async () => {
    const one = await start();
    await look(one);
    await age(-3_600_000);
    const other = await start();
    await look(other, other);
    expect(await redis.llen(key)).toBe(2);
    expect(await counts()).toEqual([0, 0]);
  });

  it('continues after a check that the store refused', async () => {
    const one = await start();
    await redis.set(key, 'no list');
    await look(one);
    await redis.del(key);
    await look(one);
    expect(await redis.llen(key)).toBe(1);
    expect(one.said).toEqual([]);
  });
});
