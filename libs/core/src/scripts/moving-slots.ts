import { setTimeout as pause } from 'node:timers/promises';

/** Of the store, or of its client, for a command that was not begun: its hash slot moves to another node. */
const NOT_BEGUN = /access a non local key|^TRYAGAIN|^Too many Cluster redirections/;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;
const LASTS_AT_MOST_MS = 30_000;

/** Repeats what was not begun because its hash slot moves. */
export async function untilSlotRests<T>(command: () => Promise<T>): Promise<T> {
  const until = Date.now() + LASTS_AT_MOST_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await command();
    } catch (error) {
      if (!NOT_BEGUN.test((error as Error).message) || Date.now() > until) throw error;
    }
    await pause(pauseMs);
  }
}
