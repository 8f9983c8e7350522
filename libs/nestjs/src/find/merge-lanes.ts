import type { SourceEntry } from './job-source.js';
import type { ListedJob } from './listed-job.js';

/** What was read of a source. */
export interface Lane {
  readonly name: string;
  readonly entries: readonly SourceEntry[];
  /** Its source has no entries behind these. */
  readonly isLast: boolean;
  /** How many of the entries are behind us. */
  taken: number;
}

/**
 * Takes entries from the lanes, the newest of all heads first, until there are enough that are wanted, or a lane runs dry whose source goes
 * on: what follows there may be newer than the other heads. `isOver` says that nothing is left anywhere.
 */
export function mergeLanes(
  lanes: readonly Lane[],
  isWanted: (job: ListedJob) => boolean,
  limit: number,
): { readonly taken: SourceEntry[]; readonly isOver: boolean } {
  const taken: SourceEntry[] = [];
  while (taken.length < limit && !lanes.some(isDry)) {
    const lane = newestOf(lanes.filter((each) => each.taken < each.entries.length));
    if (!lane) break;
    const entry = lane.entries[lane.taken]!;
    lane.taken += 1;
    if (entry.job && isWanted(entry.job)) taken.push(entry);
  }
  return {
    taken,
    isOver: lanes.every(({ entries, isLast, taken: behind }) => isLast && behind === entries.length),
  };
}

function isDry({ entries, isLast, taken }: Lane): boolean {
  return !isLast && taken === entries.length;
}

/** The entry of a job that is gone goes first: it costs nothing. */
function newestOf(lanes: readonly Lane[]): Lane | undefined {
  let newest: Lane | undefined;
  for (const lane of lanes) if (!newest || timeOfHead(lane) > timeOfHead(newest)) newest = lane;
  return newest;
}

function timeOfHead({ entries, taken }: Lane): string {
  return entries[taken]!.job?.acceptedAt ?? '~';
}
