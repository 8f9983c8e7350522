import { setTimeout as pause } from 'node:timers/promises';
import { isPassing } from './problems.js';

/** So many looks in a row may fail, once one has not: an api that is being deployed is back soon. */
const FORGIVEN = 20;

export interface Following<T> {
  readonly look: () => Promise<T>;
  readonly everyMs: number;
  readonly show: (seen: T) => void;
  readonly hasEnded: (seen: T) => boolean;
}

/** Looks until it has ended; answers what it saw last. */
export async function follow<T>({ look, everyMs, show, hasEnded }: Following<T>): Promise<T> {
  for (let failures = FORGIVEN; ;) {
    try {
      const seen = await look();
      failures = 0;
      show(seen);
      if (hasEnded(seen)) return seen;
    } catch (error) {
      failures += 1;
      if (!isPassing(error) || failures > FORGIVEN) throw error;
    }
    await pause(everyMs);
  }
}
