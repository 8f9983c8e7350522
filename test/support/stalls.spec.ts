import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Stalls } from './stalls.js';

describe('the stalls of a process', () => {
  let stalls: Stalls;
  beforeEach(() => (stalls = new Stalls()));
  afterEach(() => stalls.stop());

  it('are exactly the time in which it did not run', async () => {
    await pause(50);
    const [from, to] = block(200);
    await pause(50);

    expect(stalls.within(from, to)).toBeGreaterThan(150);
    expect(stalls.within(from, to)).toBeLessThanOrEqual(to - from);
    expect(stalls.within(to, from)).toBe(0);
    expect(stalls.within(from - 2_000, from - 1_000)).toBe(0);
  });
});

function block(ms: number): [from: number, to: number] {
  const from = Date.now();
  while (Date.now() < from + ms);
  return [from, Date.now()];
}
