import { afterEach, describe, expect, it, vi } from 'vitest';

import { WallClock } from './wall-clock.js';

const HOUR_MS = 3_600_000;

describe('wall clock', () => {
  afterEach(() => vi.restoreAllMocks());

  it('returns the time of day', () => {
    expect(Math.abs(new WallClock().now() - Date.now())).toBeLessThan(50);
  });

  it('follows the machine over a sleep and over a change of its clock', () => {
    const clock = new WallClock();
    const slept = Date.now() + HOUR_MS;
    vi.spyOn(Date, 'now').mockReturnValue(slept);
    clock.adjust();

    expect(Math.abs(clock.now() - slept)).toBeLessThan(50);
  });
});
