import { pathTo } from '../api.js';
import type { History, Owner, OwnerJob, Removal } from '../answers.js';
import { ask } from '../ask.js';
import { type Column, tableOf } from '../columns.js';
import type { Command } from '../command.js';
import { list } from '../list.js';
import type { Screen } from '../output.js';
import { clean, plural, quote } from '../render/text.js';
import { OWNER } from '../words.js';

const JOB_COLUMNS: readonly Column<OwnerJob>[] = ['job:id', 'queue', 'accepted:acceptedAt', 'begun:hasBegun'];
const REMOVAL_COLUMNS: readonly Column<Removal>[] = [
  ...(['at', 'job:id', 'kind?', 'was:state'] as const),
  ['why', wordsOf, 'cut'],
  'cancelId?',
];

export const historyCommand = list<History, 'entries'>({
  name: 'owners history',
  description: 'list which jobs of an owner were removed, when, why, and by whom',
  example: 'owners history trip 42',
  words: OWNER,
  path: ([type, id]) => pathTo`/v1/owners/${type!}/${id!}/history`,
  key: 'entries',
  pages: 'cursor',
  shown: Infinity,
  columns: REMOVAL_COLUMNS,
  more: 'It has the jobs that were removed before they had ended, and those that operations removed. To list removed jobs of all owners: mooring jobs --state removed',
  empty: 'No jobs of this owner were removed.',
});

const showCommand = list<Owner, 'jobs'>({
  name: 'owners show',
  alias: 'owner',
  description: 'show the state and the unfinished jobs of an owner',
  example: 'owners show trip 42',
  words: OWNER,
  path: ([type, id]) => pathTo`/v1/owners/${type!}/${id!}`,
  key: 'jobs',
  pages: 'cursor',
  shown: Infinity,
  options: { history: { description: 'show its history instead' } },
  columns: JOB_COLUMNS,
  above: renderOwner,
  below: ({ owner }) => `Ended jobs are listed by: mooring jobs --owner ${quote(owner)}`,
});

export const ownerCommand: Command = {
  ...showCommand,
  run: (parsed, tools) => (parsed.has('history') ? historyCommand : showCommand).run(parsed, tools),
};

export const reopenCommand = ask<{ owner: string }>({
  name: 'owners reopen',
  alias: 'reopen',
  description: 'let a closed owner accept new work again; its cancelled jobs stay cancelled',
  example: 'reopen trip 42',
  words: OWNER,
  call: (api, [type, id]) => api.post(pathTo`/v1/owners/${type!}/${id!}/reopen`),
  render: ({ owner }, { paint }) =>
    `${paint('bold', clean(owner))} is open and accepts new work. Cancelled jobs stay cancelled.`,
});

export function renderOwner({ owner, state, epoch, counts }: Owner, { paint }: Screen): string {
  const name = paint('bold', clean(owner));
  if (epoch === null) return `${name} has no unfinished jobs.`;
  const open = state === 'open' ? 'open' : `${paint('yellow', 'closed')} (new work is refused)`;
  const { jobs, running, ending } = counts;
  const has = jobs === 0 ? 'no unfinished jobs' : plural(jobs, 'unfinished job');
  const leaving = ending > 0 ? `, ${ending} cancelled and being removed` : '';
  const runs = jobs + ending > 0 ? `, ${running} of them running` : '';
  return `${name} is ${open}, with ${has}${leaving}${runs}.`;
}

export function renderOwnerJobs(jobs: readonly OwnerJob[], screen: Screen): string {
  return tableOf(jobs, JOB_COLUMNS, screen);
}

/** Entries come newest first. */
export function renderHistory(entries: readonly Removal[], screen: Screen): string {
  return tableOf(entries, REMOVAL_COLUMNS, screen);
}

/** For example `cancelled by ops: the ride is off`. */
function wordsOf({ why, by, reason }: Removal): string {
  return `${why}${by ? ` by ${by}` : ''}${reason ? `: ${reason}` : ''}`;
}
