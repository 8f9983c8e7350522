import { describe, expect, it } from 'vitest';
import { backstopMs } from './keep.js';

const DAY = 86_400_000;

describe('the backstop of a queue', () => {
  it.each([
    [[60_000], 3 * DAY],
    [[DAY], 3 * DAY],
    [[30 * DAY], 61 * DAY],
    [[60_000, 30 * DAY, DAY], 61 * DAY],
  ])('whose kinds keep their jobs for %j ms is %i', (ages, backstop) => {
    expect(backstopMs(ages.map((ageMs) => ({ ageMs, count: 1 })))).toBe(backstop);
  });
});
