/** A job, and the partition it goes to. */
export interface Placed<Job> {
  readonly at: number;
  readonly job: Job;
}

/** Asks each part once for all its jobs. The answers come in the order of the jobs; there is none for a job without a place. */
export async function inEachPart<Part, Job, Answer>(
  parts: readonly Part[],
  places: readonly (Placed<Job> | undefined)[],
  ask: (part: Part, jobs: Job[]) => Promise<readonly Answer[]>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  const askPart = async (part: Part, at: number) => {
    const own = places.flatMap((place, i) => (place?.at === at ? [{ i, job: place.job }] : []));
    if (own.length === 0) return;
    const given = await ask(
      part,
      own.map(({ job }) => job),
    );
    for (const [n, { i }] of own.entries()) answers[i] = given[n]!;
  };
  await Promise.all(parts.map(askPart));
  return answers;
}
