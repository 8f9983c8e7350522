import type { History, Owner, OwnerJob, Removal } from '../answers.js';
import type { ParsedArgs } from '../arguments.js';
import type { Command, ExitCode, Tools } from '../command.js';
import type { Paint } from '../output.js';
import { formatOwner, ownerOfWords, ownerPath } from '../owner-name.js';
import { table } from '../render/table.js';
import { clean, plural } from '../render/text.js';

export const ownerCommand: Command = {
  name: 'owner',
  usage: ['owner <type> <id> [--history]'],
  description: 'show the state and the jobs of an owner',
  options: { history: { description: 'show which jobs were removed, when, why, and by whom' } },
  run: (parsed, tools) => (parsed.has('history') ? history(parsed, tools) : read(parsed, tools)),
};

export const reopenCommand: Command = {
  name: 'reopen',
  usage: ['reopen <type> <id>'],
  description: 'let a closed owner accept new work again; its cancelled jobs stay cancelled',
  options: {},
  run: async ({ words }, { api, out }) => {
    const named = ownerOfWords(words);
    const answer = await api.post<unknown>(`${ownerPath(named)}/reopen`);
    out.answer(answer, (_answer, paint) => {
      const name = paint('bold', clean(formatOwner(named)));
      return `${name} is open and accepts new work. Cancelled jobs stay cancelled.`;
    });
    return 0;
  },
};

async function read(parsed: ParsedArgs, { api, out }: Tools): Promise<ExitCode> {
  const path = ownerPath(ownerOfWords(parsed.words));
  const first = await api.get<Owner>(path);
  if (!out.isJson) out.print(renderOwner(first, out.paint));
  const all: OwnerJob[] = [];
  const known = new Set<string>();
  for await (const page of pages(first, (cursor) => api.get<Owner>(path, { cursor }))) {
    // A job that moves between two pages may appear on both.
    const fresh = page.jobs.filter(({ id }) => !known.has(id));
    for (const { id } of fresh) known.add(id);
    if (out.isJson) all.push(...fresh);
    else if (fresh.length > 0) out.print(`\n${renderOwnerJobs(fresh, out.paint)}`);
  }
  if (out.isJson) out.json({ ...first, jobs: all, cursor: null });
  return 0;
}

async function history(parsed: ParsedArgs, { api, out }: Tools): Promise<ExitCode> {
  const named = ownerOfWords(parsed.words);
  const path = `${ownerPath(named)}/history`;
  const first = await api.get<History>(path);
  const all: History['entries'][number][] = [];
  for await (const page of pages(first, (cursor) => api.get<History>(path, { cursor }))) {
    if (out.isJson) all.push(...page.entries);
    else if (page.entries.length > 0) out.print(renderHistory(page.entries, out.paint));
    else if (page === first && !page.cursor) out.print(`No jobs of ${formatOwner(named)} were removed.`);
  }
  if (out.isJson) out.json({ ...first, entries: all, cursor: null });
  return 0;
}

async function* pages<P extends { readonly cursor: string | null }>(
  first: P,
  next: (cursor: string) => Promise<P>,
): AsyncGenerator<P> {
  let page = first;
  for (;;) {
    yield page;
    if (!page.cursor) return;
    page = await next(page.cursor);
  }
}

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
