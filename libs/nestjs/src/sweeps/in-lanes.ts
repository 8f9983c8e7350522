const AT_ONCE = 8;

/** Does some things at once, until the signal aborts. Answers what was begun; rejects with the first error once all that began has ended. */
export async function inLanes<T, R>(
  things: readonly T[],
  signal: AbortSignal,
  work: (thing: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const errors: unknown[] = [];
  const rest = things.entries();
  const lane = async (): Promise<void> => {
    for (const [i, thing] of rest) {
      if (signal.aborted || errors.length > 0) return;
      await work(thing).then(
        (result) => (results[i] = result),
        (error: unknown) => errors.push(error),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  if (errors.length > 0) throw errors[0];
  return results;
}
