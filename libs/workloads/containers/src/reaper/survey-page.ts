import type { Page, Round, SweepLine } from '#nestjs';

const LOOK_MS = 10_000;
/** Concurrent engine calls, so that a page on a hanging engine does not take the sum of their limits. */
const AT_ONCE = 8;

/** What a sweep decided about one item; the report shows the reason, if any. */
export interface Fate {
  readonly word: 'kept' | 'unknown' | 'removed' | 'healed' | 'failed';
  readonly why?: string | undefined;
}

interface Surveyed<T> {
  readonly page: Omit<Page, 'position'>;
  /** The last item checked: a sweep that is stopped leaves the rest. */
  readonly last: T | undefined;
}

export async function surveyPage<T>(
  items: readonly T[],
  { signal }: Round,
  look: (item: T) => Promise<Fate>,
  nameOf: (item: T) => string,
): Promise<Surveyed<T>> {
  const counts = { seen: 0, kept: 0, unknown: 0, removed: 0, healed: 0, failed: 0 };
  const lines: SweepLine[] = [];
  for (let i = 0; i < items.length && !signal.aborted; i += AT_ONCE) {
    const some = items.slice(i, i + AT_ONCE);
    const fates = await Promise.all(some.map(look));
    for (const [j, { word, why }] of fates.entries()) {
      counts.seen += 1;
      counts[word] += 1;
      if (why !== undefined) lines.push({ what: nameOf(some[j]!), why });
    }
  }
  return { page: { ...counts, lines }, last: items[counts.seen - 1] };
}

/** The time limit of an engine call in a sweep. */
export function within(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(LOOK_MS)]);
}
