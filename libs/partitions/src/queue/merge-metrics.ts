import type { Metrics } from 'bullmq';
import { sum } from '../model/merges.js';

const A_MINUTE = 60_000;

/** Jobs a minute, the newest minute first. A partition whose last job is older begins later. */
export function mergeMetrics(all: readonly Metrics[]): Metrics {
  const newest = Math.max(...all.map(({ meta }) => meta.prevTS));
  const data: number[] = [];
  for (const { meta, data: points } of all) {
    const later = Math.floor(newest / A_MINUTE) - Math.floor(meta.prevTS / A_MINUTE);
    for (const [i, count] of points.entries()) data[i + later] = (data[i + later] ?? 0) + count;
  }
  const meta = {
    count: sum(all.map((each) => each.meta.count)),
    prevTS: newest,
    prevCount: sum(all.map((each) => each.meta.prevCount)),
  };
  return {
    meta,
    data: Array.from(data, (count) => count ?? 0),
    count: Math.max(...all.map(({ count }) => count), data.length),
  };
}
