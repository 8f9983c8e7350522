import { setTimeout as pause } from 'node:timers/promises';
import { isTransient } from './problems.js';

/** Consecutive polls that may fail after a first success: an API that is being deployed is back soon. */
const MAX_FAILURES = 20;

export interface FollowOptions<T> {
  readonly poll: () => Promise<T>;
  readonly everyMs: number;
  readonly show: (seen: T) => void;
  readonly hasEnded: (seen: T) => boolean;
}

/** Polls until `hasEnded`, and returns the last value. */
export async function follow<T>({ poll, everyMs, show, hasEnded }: FollowOptions<T>): Promise<T> {
  for (let failures = MAX_FAILURES; ;) {
    try {
      const seen = await poll();
      failures = 0;
      show(seen);
      if (hasEnded(seen)) return seen;
    } catch (error) {
      failures += 1;
      if (!isTransient(error) || failures > MAX_FAILURES) throw error;
    }
    await pause(everyMs);
  }
}
