import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Heartbeats, type HeartbeatTarget } from './heartbeats.js';

describe('heartbeats', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('come every ten seconds for each stream, spread over the interval', () => {
    const beats = new Heartbeats();
    const counts = Array.from({ length: 5_000 }, () => 0);
    let atOnce = 0;
    const ones = counts.map((_count, i): HeartbeatTarget => ({
      beat: () => {
        counts[i]! += 1;
        atOnce += 1;
      },
    }));
    for (const one of ones) beats.add(one);
    for (let turn = 0; turn < 100; turn += 1) {
      atOnce = 0;
      vi.advanceTimersByTime(100);
      expect(atOnce).toBe(50);
    }
    expect(new Set(counts)).toEqual(new Set([1]));

    for (const one of ones.slice(1)) beats.remove(one);
    vi.advanceTimersByTime(20_000);
    expect(counts[0]).toBe(3);
    expect(counts[1]).toBe(1);
    beats.remove(ones[0]!);
    expect(vi.getTimerCount()).toBe(0);
  });
});
