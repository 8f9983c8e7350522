/** How long, and how many, finished jobs are kept. */
export interface Measure {
  readonly ageMs: number;
  readonly count: number;
}

/** What a kind says of it; where it says nothing, the fleet's own measure holds. */
export interface SaidKeep extends Partial<Measure> {
  /** Of those that failed; without it, as of the others. */
  readonly failed: Partial<Measure>;
}

export interface Keep {
  readonly completed: Measure;
  readonly failed: Measure;
}

export function keepOf(said: SaidKeep | undefined, fallback: Measure): Keep {
  const completed = { ageMs: said?.ageMs ?? fallback.ageMs, count: said?.count ?? fallback.count };
  return {
    completed,
    failed: {
      ageMs: said?.failed.ageMs ?? completed.ageMs,
      count: said?.failed.count ?? completed.count,
    },
  };
}

const DAY_MS = 86_400_000;
const LEAST_BACKSTOP_MS = 3 * DAY_MS;

/**
 * What BullMQ is given, as an age, where jobs may leave artifacts: it is to take none before those are removed, if anybody does
 * that. Whoever finishes a job has it remove others of the queue, by his own clock: so the age is far behind every kind's,
 * and there is no number, which a busy hour between two sweeps would be over.
 */
export function backstopMs(measures: readonly Measure[]): number {
  const longest = Math.max(...measures.map(({ ageMs }) => ageMs));
  return Math.max(2 * longest + DAY_MS, LEAST_BACKSTOP_MS);
}
