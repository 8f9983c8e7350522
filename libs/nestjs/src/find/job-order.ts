import type { ListedJob } from './listed-job.js';

/** Where a job stands in a list: the newest first, by when it was accepted. It stays there, whatever its state. */
export function placeOf({ acceptedAt, id }: ListedJob): string {
  return `${acceptedAt} ${id}`;
}

export function byNewest(a: ListedJob, b: ListedJob): number {
  const [left, right] = [placeOf(a), placeOf(b)];
  return left < right ? 1 : left > right ? -1 : 0;
}

/** Whether a job comes after this place; each does if there is none. */
export function isBehind(job: ListedJob, place: string | undefined): boolean {
  return place === undefined || placeOf(job) < place;
}
