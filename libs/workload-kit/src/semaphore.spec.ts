import { describe, expect, it } from 'vitest';
import { Semaphore } from './semaphore.js';

describe('a semaphore', () => {
  it('runs two tasks at once, and all of them in the end, even after a failure', async () => {
    const semaphore = new Semaphore(2);
    let now = 0;
    let most = 0;
    const works = Array.from({ length: 7 }, (_, i) =>
      semaphore.run(async () => {
        most = Math.max(most, (now += 1));
        await new Promise((resolve) => setImmediate(resolve));
        now -= 1;
        if (i === 1) throw new Error('It broke.');
        return i;
      }),
    );
    const ends = await Promise.allSettled(works);
    expect(ends.map(({ status }) => status === 'fulfilled')).toEqual([
      true,
      false,
      true,
      true,
      true,
      true,
      true,
    ]);
    expect([most, now]).toEqual([2, 0]);
  });
});
