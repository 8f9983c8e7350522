import { describe, expect, it } from 'vitest';
import { within } from './within.js';

const never = new Promise<never>(() => undefined);

describe('within a time limit', () => {
  it('returns the result of the promise, or its failure', async () => {
    expect(await within(60_000, Promise.resolve(7), 'late')).toBe(7);
    await expect(within(60_000, Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  it('returns undefined or the fallback when the promise takes longer', async () => {
    expect([await within(1, never), await within(1, never, 'late')]).toEqual([undefined, 'late']);
  });

  it('leaves no timer behind', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    const waiting = within(60_000, Promise.resolve());
    expect(timers()).toBe(before + 1);
    await waiting;
    expect(timers()).toBe(before);
  });
});
