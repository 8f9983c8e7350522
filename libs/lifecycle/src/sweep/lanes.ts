/** So many things are done at once, where it is not said otherwise. */
const AT_ONCE = 8;

/**
 * Does something with each of many things, some at once, until told to stop; answers what came of each that was begun. An
 * error ends it too, once all that was begun has ended.
 */
export async function inLanes<T, R>(
  things: readonly T[],
  signal: AbortSignal,
  work: (thing: T) => Promise<R>,
  atOnce = AT_ONCE,
): Promise<R[]> {
  const results: R[] = [];
  const errors: unknown[] = [];
  const rest = things.entries();
  const lane = async (): Promise<void> => {
    for (const [i, thing] of rest) {
      if (signal.aborted || errors.length > 0) return;
      try {
        results[i] = await work(thing);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  if (errors.length > 0) throw errors[0];
  return results;
}
