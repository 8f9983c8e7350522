import type { TestProcess } from './process.js';

export interface Interval {
  readonly jobId: string;
  readonly from: number;
  readonly to: number;
}

/** The facts that workers logged about their jobs, in the order of their clocks. */
export function jobFacts(
  workers: readonly TestProcess[],
  event: string,
): { readonly jobId: string; readonly time: number; readonly pid: number }[] {
  return workers
    .flatMap((worker) =>
      worker
        .facts()
        .filter((fact) => fact['event'] === event)
        .map(({ jobId, time }) => ({ jobId: String(jobId), time: Number(time), pid: worker.pid })),
    )
    .toSorted((a, b) => a.time - b.time);
}

/** The interval in which each job ran, for jobs that began and completed once. */
export function intervals(workers: readonly TestProcess[]): Interval[] {
  const ends = new Map(jobFacts(workers, 'job.completed').map(({ jobId, time }) => [jobId, time]));
  return jobFacts(workers, 'job.began').map(({ jobId, time }) => ({
    jobId,
    from: time,
    to: ends.get(jobId) ?? Infinity,
  }));
}

/** The maximum number that ran at once. A start in the millisecond of an end comes after it. */
export function mostAtOnce(all: readonly Interval[]): number {
  const moments = all.flatMap(({ from, to }) => [
    { at: from, by: 1 },
    { at: to, by: -1 },
  ]);
  let [running, most] = [0, 0];
  for (const { by } of moments.toSorted((a, b) => a.at - b.at || a.by - b.by)) {
    running += by;
    most = Math.max(most, running);
  }
  return most;
}
