import type { History, Owner, OwnerJob } from '../answers.js';
import type { ParsedArgs } from '../arguments.js';
import type { Command, ExitCode, Tools } from '../command.js';
import { formatOwner, ownerOfWords, ownerPath } from '../owner-name.js';
import { renderHistory, renderOwner, renderOwnerJobs } from '../render/owner.js';

export const owner: Command = {
  name: 'owner',
  usage: ['owner <type> <id> [--history]'],
  description: 'show the state and the jobs of an owner',
  options: { history: { description: 'show which jobs were removed, when, why, and by whom' } },
  run: (parsed, tools) => (parsed.has('history') ? history(parsed, tools) : read(parsed, tools)),
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
