import { formatOwner, readOwner, type OwnerName } from './owner.name.js';
import { WrongUsage } from './problems.js';

export interface ListedOwner {
  readonly owner: OwnerName;
  /** Where it stands first. */
  readonly line: number;
}

/** So many wrong lines are told; a file of another sort has thousands. */
const MOST_TOLD = 20;

/** Owners, one a line; empty lines and those that begin with # say nothing. One wrong line, and none is taken. */
export function readOwnerList(text: string, path: string): ListedOwner[] {
  const owners = new Map<string, ListedOwner>();
  const wrong: string[] = [];
  for (const [i, raw] of text.split('\n').entries()) {
    const written = raw.trim();
    if (written === '' || written.startsWith('#')) continue;
    const owner = readOwner(written);
    if ('wrong' in owner) wrong.push(`line ${i + 1}: ${owner.wrong}`);
    else if (!owners.has(formatOwner(owner))) owners.set(formatOwner(owner), { owner, line: i + 1 });
  }
  if (wrong.length > 0) throw new WrongUsage(describe(wrong, path));
  return [...owners.values()];
}

function describe(wrong: readonly string[], path: string): string {
  const told = wrong.slice(0, MOST_TOLD).map((one) => `  ${one}`);
  if (wrong.length > MOST_TOLD) told.push(`  and ${wrong.length - MOST_TOLD} more`);
  const where = path === '-' ? 'What is piped in' : path;
  return [`${where} has lines that name no owner; nothing is cancelled:`, ...told].join('\n');
}
