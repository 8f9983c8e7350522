import { inGroups, unescapeText } from '#core/parts';
import type { MooringStore } from '../../store/mooring-store.js';

const MOST_OWNERS = 500;

/** An owner with jobs, as it stands now: a new job, or a cancel, changes it. */
export interface SeenJobs {
  readonly owner: string;
  readonly epoch: string;
  /** When a job was last enqueued for it, µs. */
  readonly wanted: string;
}

/** In the core's lists of owners: the list, and the last name that was read of it. */
export interface ScanPlace {
  readonly type: string;
  readonly list: string;
  readonly after: string;
}

/** A page of at most 500 open owners of one type that have jobs. `next` is the place of the next page, if there is one. */
export async function scanOwners(
  store: MooringStore,
  types: readonly string[],
  { type, list, after }: ScanPlace = { type: types[0] ?? '', list: '0', after: '' },
): Promise<{ type: string; owners: SeenJobs[]; next: ScanPlace | undefined }> {
  if (type === '') return { type, owners: [], next: undefined };
  const args = [list, after, `${type}:`, MOST_OWNERS];
  const [nextList = '', nextAfter = '', ...fields] = await store.run<string[]>(
    'scanOwners',
    `${store.root}~owner~`,
    args,
  );
  const owners = inGroups(fields, 3).map(([name, epoch, wanted]) => ({
    owner: unescapeText(name!),
    epoch: epoch!,
    wanted: wanted!,
  }));
  if (nextList !== '') return { type, owners, next: { type, list: nextList, after: nextAfter } };
  const following = types[types.indexOf(type) + 1];
  return {
    type,
    owners,
    next: following === undefined ? undefined : { type: following, list: '0', after: '' },
  };
}
