import type { Owner, OwnerJob } from '../answers.js';
import type { Paint } from '../output.js';
import { table } from './table.js';
import { clean, plural } from './text.js';

/** What an owner has, without the jobs themselves. */
export function renderOwner({ owner, state, epoch, counts }: Owner, paint: Paint): string {
  const name = paint('bold', clean(owner));
  if (epoch === null) return `${name} has no jobs, and had none for long.`;
  const open = state === 'open' ? 'open' : `${paint('yellow', 'closed')} (new work is refused)`;
  const { jobs, running } = counts;
  const has = jobs === 0 ? 'no jobs' : `${plural(jobs, 'job')} that ${jobs === 1 ? 'has' : 'have'} not ended`;
  const of = jobs === 0 ? '' : `, ${running} of them running`;
  return `${name} is ${open}, with ${has}${of}.`;
}

export function renderOwnerJobs(jobs: readonly OwnerJob[], paint: Paint): string {
  return table(
    ['job', 'queue', 'accepted', 'begun'],
    jobs.map(({ id, queue, acceptedAt, hasBegun }) => [id, queue, acceptedAt, hasBegun ? 'yes' : 'no']),
    paint,
  );
}
