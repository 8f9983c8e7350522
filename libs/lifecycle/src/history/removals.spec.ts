import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { Keys, REMOVALS_BYTES, REMOVALS_KEPT } from '../keys.js';
import { newJobId } from '../kinds/ids.js';
import { Store } from '../store.js';
import { Removals, type Removal } from './removals.js';

const MANY = 150;
const QUEUES = ['q', 'r'];

describe('why jobs were removed', () => {
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  const keys = new Keys(prefix);
  let redis: Redis;
  let removals: Removals;
  let scriptsRun: number;

  beforeEach(async () => {
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    await redis.ping();
    scriptsRun = 0;
    const evalsha = redis.evalsha.bind(redis) as (...args: unknown[]) => Promise<unknown>;
    Object.assign(redis, {
      evalsha: (...args: unknown[]) => {
        scriptsRun += 1;
        return evalsha(...args);
      },
    });
    const options = { redis, prefix };
    removals = new Removals(options, new Store(options));
  });
  afterEach(async () => {
    const all = QUEUES.flatMap((queue) => [keys.gone(queue), keys.goneOver(queue)]);
    await redis.unlink(...all.flatMap((key) => [key, `${key}:at`, `${key}:bytes`]));
    await redis.quit();
  });

  it('is noted for many at once, each as its own', async () => {
    const all = Array.from({ length: MANY }, (_, i) => aRemoval(QUEUES[i % 2]!, `reason ${i}`));
    await removals.note(aRemoval('q', 'the first gives the store its script'));
    scriptsRun = 0;
    await Promise.all(all.map((one) => removals.note(one)));
    expect(await Promise.all(all.map(({ id }) => removals.find(id)))).toEqual(all);
    // 75 for each queue, 64 at most in one.
    expect(scriptsRun).toBe(4);
  });

  it('is not pushed out by those that were over their measure', async () => {
    const cancelled = aRemoval('q', 'told to');
    await removals.note(cancelled);
    const over = Array.from({ length: REMOVALS_KEPT + 1 }, () => aRemoval('q', 'old', 'retention'));
    await Promise.all(over.map((one) => removals.note(one)));
    expect(await redis.hlen(keys.goneOver('q'))).toBe(REMOVALS_KEPT);
    expect(await removals.find(cancelled.id)).toEqual(cancelled);
  });

  it('is kept within a bound by bytes: the oldest are forgotten first', async () => {
    const reason = 'x'.repeat(500);
    const count = Math.ceil((1.5 * REMOVALS_BYTES) / JSON.stringify(aRemoval('q', reason)).length);
    expect(count).toBeLessThan(REMOVALS_KEPT);
    const all = Array.from({ length: count }, () => aRemoval('q', reason));
    await Promise.all(all.map((one) => removals.note(one)));
    const texts = await redis.hvals(keys.gone('q'));
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    expect(bytes).toBeLessThanOrEqual(REMOVALS_BYTES);
    expect(bytes).toBeGreaterThan(0.99 * REMOVALS_BYTES);
    expect(await redis.get(`${keys.gone('q')}:bytes`)).toBe(String(bytes));
    expect(await removals.find(all[0]!.id)).toBeUndefined();
    expect(await removals.find(all.at(-1)!.id)).toEqual(all.at(-1));
  });

  it('is the later of two, when its id was used again', async () => {
    const old = aRemoval('q', 'told to');
    const again = { ...old, why: 'retention', at: '2026-01-03T03:00:00.000Z' } as const;
    await removals.note(old);
    await removals.note(again);
    expect(await removals.find(old.id)).toEqual(again);
  });

  it('is told as failed to all who noted it together', async () => {
    await redis.set(keys.gone('q'), 'of another type');
    const outcomes = await Promise.allSettled([
      removals.note(aRemoval('q', 'a')),
      removals.note(aRemoval('q', 'b')),
      removals.note(aRemoval('r', 'c')),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  });
});

function aRemoval(queue: string, reason: string, why: Removal['why'] = 'cancelled'): Removal {
  const at = '2026-01-02T03:00:00.000Z';
  return { id: newJobId(queue), queue, state: 'waiting', at, why, reason };
}
