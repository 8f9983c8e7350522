import { setTimeout as pause } from 'node:timers/promises';

/** Waits until a fact is true: until `look` answers something other than undefined or false, or stops throwing. */
export async function until<T>(
  look: () => T | Promise<T>,
  what: string,
  withinMs = 30_000,
): Promise<Exclude<T, undefined | false | null>> {
  const deadline = Date.now() + withinMs;
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
    await pause(20);
  }
}
