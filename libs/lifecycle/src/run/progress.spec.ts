import { describe, expect, it, vi } from 'vitest';
import { defer } from '../../../../test/support/defer.js';
import { Progress } from './progress.js';

const notFailed = (error: unknown): never => expect.fail(`it failed: ${String(error)}`);

describe('the progress of a run', () => {
  it('is told before the handler goes on', async () => {
    const told: unknown[] = [];
    const progress = new Progress(async (value) => void told.push(value), notFailed);
    await progress.report(1);
    expect(told).toEqual([1]);
    await progress.report(2);
    expect(told).toEqual([1, 2]);
  });

  it('that comes while another is under way is told after it, the latest only', async () => {
    const told: unknown[] = [];
    const first = defer();
    const progress = new Progress((value) => {
      told.push(value);
      return value === 1 ? first.promise : Promise.resolve();
    }, notFailed);
    const reports = [1, 2, 3, 4].map((value) => progress.report(value));
    first.resolve();
    await Promise.all(reports);
    expect(told).toEqual([1, 4]);
  });

  it('that cannot be told is said to have failed, and the next one is told', async () => {
    const told: unknown[] = [];
    const failures: unknown[] = [];
    const progress = new Progress(
      (value) => {
        if (value === 1) throw new Error('not JSON');
        return value === 2 ? Promise.reject(new Error('no store')) : Promise.resolve(void told.push(value));
      },
      (error) => failures.push((error as Error).message),
    );
    for (const value of [1, 2, 3]) await progress.report(value);
    expect([failures, told]).toEqual([['not JSON', 'no store'], [3]]);
  });

  it('holds the handler up for a second at most in all, while nothing answers', async () => {
    vi.useFakeTimers();
    try {
      const progress = new Progress(() => new Promise(() => {}), notFailed);
      const waits: boolean[] = [];
      const first = progress.report(1).then(() => waits.push(true));
      await vi.advanceTimersByTimeAsync(999);
      expect(waits).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      await first;
      await progress.report(2);
      expect(waits).toEqual([true]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is of no interest once the run is over', async () => {
    const told: unknown[] = [];
    const first = defer();
    const progress = new Progress((value) => {
      told.push(value);
      return first.promise;
    }, notFailed);
    const reports = [progress.report(1), progress.report(2)];
    progress.stop();
    first.resolve();
    await Promise.all(reports);
    await progress.report(3);
    expect(told).toEqual([1]);
  });
});
