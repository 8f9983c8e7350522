import { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import type { Log } from '../log/log.js';
import { ClockWatch } from './clock-watch.js';

describe('the watch over the clock', () => {
  const registry = new Registry();
  const warned: { fields: object; text: string }[] = [];
  const log = {
    warn: (fields: object, text: string) => void warned.push({ fields, text }),
  } as unknown as Log;
  let redis: Redis;
  let watch: ClockWatch;

  beforeEach(async () => {
    redis = new Redis(inject('storeUrl'));
    await redis.ping();
    watch = new ClockWatch(redis, log, registry);
  });
  afterEach(async () => {
    vi.useRealTimers();
    watch.close();
    registry.clear();
    warned.length = 0;
    await redis.quit();
  });

  const turnBy = (hours: number): unknown =>
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * 3_600_000 });
  const ahead = async (): Promise<number> =>
    (await registry.getSingleMetric('mooring_clock_ahead_seconds')!.get()).values[0]!.value;

  it("shows the difference to the store's clock, and logs nothing about a right clock", async () => {
    await watch.look();
    expect(await ahead()).not.toBe(0);
    expect(Math.abs(await ahead())).toBeLessThan(1);
    expect(warned).toEqual([]);
  });

  it.each([
    [1, /3600 s ahead of the store's: delayed jobs come too early/],
    [-1, /3600 s behind the store's: delayed jobs come too late/],
  ])('warns once about a wrong clock (%i h)', async (hours, text) => {
    turnBy(hours);
    await watch.look();
    await watch.look();
    expect((await ahead()) / 3_600).toBeCloseTo(hours, 3);
    expect(warned).toEqual([
      {
        fields: { event: 'clock.wrong', aheadS: expect.closeTo(hours * 3_600, 0) as number },
        text: expect.stringMatching(text) as string,
      },
    ]);
  });

  it('warns again when the clock was right in between', async () => {
    turnBy(1);
    await watch.look();
    vi.useRealTimers();
    await watch.look();
    turnBy(1);
    await watch.look();
    expect(warned).toHaveLength(2);
  });

  it('tolerates an unavailable store', async () => {
    redis.disconnect();
    await watch.look();
    redis = new Redis(inject('storeUrl'));
    expect(warned).toEqual([]);
  });
});
