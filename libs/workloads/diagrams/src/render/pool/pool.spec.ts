import { describe, expect, it, vi } from 'vitest';
import type { Child } from './child.js';
import { Pool } from './pool.js';
import type { Task } from './words.js';

/** A process that answers when the test tells it to, and is never reused. */
const begun: (() => void)[] = [];
let isFull = false;

class OnceChild {
  readonly isFit = false;
  constructor() {
    if (isFull) throw new Error('no space left');
  }
  ask = () => new Promise((resolve) => begun.push(() => resolve({ said: 'checked' })));
  end = () => Promise.resolve();
}

const TASK: Task = { do: 'check', drawer: 'graphviz', source: 'x' };
const { signal } = new AbortController();

describe('a caller that waits for a process', () => {
  it('gets an error when no process can be started, and the previous caller gets its answer', async () => {
    const pool = poolOfOne();
    const [first, ...others] = [1, 2, 3].map(() => pool.run(TASK, 1_000, signal));
    const heard = Promise.allSettled(others);
    await vi.waitFor(() => expect(begun).toHaveLength(1));
    isFull = true;
    begun.shift()!();
    expect(await first).toEqual({ said: 'checked' });
    const reason = expect.objectContaining({ message: 'no space left' });
    expect(await heard).toEqual([1, 2].map(() => ({ status: 'rejected', reason })));
    isFull = false;
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
    'does not take the turn of the next caller when it leaves during its turn: %d steps later',
    async (steps) => {
      const pool = poolOfOne();
      const leaving = new AbortController();
      const first = pool.run(TASK, 1_000, signal);
      const second = pool.run(TASK, 1_000, leaving.signal).catch(() => undefined);
      const third = pool.run(TASK, 1_000, signal);
      await vi.waitFor(() => expect(begun).toHaveLength(1));
      begun.shift()!();
      for (let step = 0; step < steps; step += 1) await Promise.resolve();
      leaving.abort();
      await first;
      // The caller that leaves may have begun before.
      const rest = Promise.all([second, third]).then(() => 'done');
      while ((await Promise.race([rest, new Promise(setImmediate)])) !== 'done') begun.shift()?.();
      expect(await third).toEqual({ said: 'checked' });
    },
  );

  it('gets an error when the pool closes', async () => {
    const pool = poolOfOne();
    const [first, second] = [1, 2].map(() => pool.run(TASK, 1_000, signal));
    await vi.waitFor(() => expect(begun).toHaveLength(1));
    const heard = second!.catch((error: Error) => error.message);
    await pool.close();
    expect(await heard).toContain('closed');
    begun.shift()!();
    await first;
  });
});

function poolOfOne(): Pool {
  return new Pool(
    {
      setup: { role: 'draw' },
      processes: 1,
      heapMb: 1,
      memoryMb: 1,
      idleMs: 1,
      renders: 1,
    },
    () => new OnceChild() as unknown as Child,
  );
}
