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

/** What BullMQ is given, where jobs may leave artifacts: it is to take none before those are removed, if anybody does that. */
export function backstopOf({ ageMs, count }: Measure): Measure {
  return { ageMs: 2 * ageMs, count: 2 * count + 1_000 };
}
