import type { Job, JobType } from 'bullmq';

/** Places of a range as `getJobs` takes it: -1 is the last one. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** What has to be read of each partition for a range of all of them: everything up to its end. */
export function rangeInEach({ start, end }: Range): Range {
  return start >= 0 && end >= 0 ? { start: 0, end } : { start: 0, end: -1 };
}

/** The jobs of one type, in the order that BullMQ has for it, of all partitions. */
export function mergeJobs<J extends Job>(
  type: JobType,
  pages: readonly (readonly J[])[],
  { start, end }: Range,
  asc: boolean,
): J[] {
  const sign = asc ? 1 : -1;
  return pages
    .flat()
    .toSorted((a, b) => sign * compare(placeOf(type, a), placeOf(type, b)))
    .slice(start, end === -1 ? undefined : end + 1);
}

function placeOf(type: JobType, job: Job): [number, number] {
  if (type === 'completed' || type === 'failed') return [job.finishedOn ?? 0, job.timestamp];
  if (type === 'delayed') return [job.timestamp + job.delay, job.timestamp];
  return [type === 'prioritized' ? job.priority : 0, job.timestamp];
}

function compare(a: readonly [number, number], b: readonly [number, number]): number {
  return a[0] - b[0] || a[1] - b[1];
}
