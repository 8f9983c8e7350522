import type { Owner, OwnerJob, Removal } from '../answers.js';
import type { Paint } from '../output.js';
import { table } from './table.js';
import { clean, plural } from './text.js';

export function renderOwner({ owner, state, epoch, counts }: Owner, paint: Paint): string {
  const name = paint('bold', clean(owner));
  if (epoch === null) return `${name} has no jobs.`;
  const open = state === 'open' ? 'open' : `${paint('yellow', 'closed')} (new work is refused)`;
  const { jobs, running, ending } = counts;
  const has = jobs === 0 ? 'no jobs' : plural(jobs, 'unfinished job');
  const leaving = ending > 0 ? `, ${ending} cancelled and being removed` : '';
  const runs = jobs + ending > 0 ? `, ${running} of them running` : '';
  return `${name} is ${open}, with ${has}${leaving}${runs}.`;
}

export function renderOwnerJobs(jobs: readonly OwnerJob[], paint: Paint): string {
  return table(
    ['job', 'queue', 'accepted', 'begun'],
    jobs.map(({ id, queue, acceptedAt, hasBegun }) => [id, queue, acceptedAt, hasBegun ? 'yes' : 'no']),
    paint,
  );
}

/** Entries come newest first. */
export function renderHistory(entries: readonly Removal[], paint: Paint): string {
  return table(
    ['at', 'job', 'kind', 'was', 'why', 'cancelId'],
    entries.map((one) => [one.at, one.id, one.kind, one.state, wordsOf(one), one.cancelId]),
    paint,
  );
}

/** For example `cancelled by ops: the ride is off`. */
function wordsOf({ why, by, reason }: Removal): string {
  return `${why}${by ? ` by ${by}` : ''}${reason ? `: ${reason}` : ''}`;
}
