/** So many things are done at once. */
const AT_ONCE = 8;

/** Does something with each of many things, some at once, until told to stop; answers what came of each that was begun. */
export async function inLanes<T, R>(
  things: readonly T[],
  signal: AbortSignal,
  work: (thing: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const rest = things.entries();
  const lane = async (): Promise<void> => {
    for (const [i, thing] of rest) {
      if (signal.aborted) return;
      results[i] = await work(thing);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return results;
}
