/** `kept`: it is not to go now, for another is at it, or it rests after a failure, or it is left alone. */
export type Fate = 'removed' | 'kept' | 'failed';

/** Those that were not come to have none. */
export function countOf(fates: readonly (Fate | undefined)[]): Record<Fate, number> {
  const counts = { removed: 0, kept: 0, failed: 0 };
  for (const fate of fates) if (fate) counts[fate] += 1;
  return counts;
}
