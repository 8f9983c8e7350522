import { setTimeout as pause } from 'node:timers/promises';

const OFTEN_MS = 15;
const SELDOM_MS = 100;

/** Waits until a fact is true: until `look` returns something other than undefined or false, or stops throwing. */
export async function until<T>(
  look: () => T | Promise<T>,
  what: string,
  withinMs = 30_000,
): Promise<Exclude<T, undefined | false | null>> {
  const began = Date.now();
  const deadline = began + withinMs;
  let last: unknown;
  for (;;) {
    try {
      const seen = await look();
      if (seen !== undefined && seen !== false && seen !== null)
        return seen as Exclude<T, undefined | false | null>;
      last = seen;
    } catch (error) {
      last = error;
    }
    if (Date.now() > deadline) throw new Error(`Not true within ${withinMs} ms: ${what}`, { cause: last });
    // A look is often a call to a process that has work of its own.
    await pause(Math.min(OFTEN_MS + (Date.now() - began) / 20, SELDOM_MS));
  }
}
