import { formatOwner, readOwner, type OwnerName } from './owner-name.js';
import { WrongUsage } from './problems.js';

export interface ListedOwner {
  readonly owner: OwnerName;
  /** Number of the first line that names the owner. */
  readonly line: number;
}

/** Limits the error message: a file of another format has thousands of wrong lines. */
const MAX_REPORTED = 20;

/** Reads one owner per line. Ignores empty lines and lines that begin with #. Throws if any other line is wrong. */
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
  const reported = wrong.slice(0, MAX_REPORTED).map((one) => `  ${one}`);
  if (wrong.length > MAX_REPORTED) reported.push(`  and ${wrong.length - MAX_REPORTED} more`);
  const where = path === '-' ? 'Standard input' : path;
  return [`${where} has invalid lines; nothing was cancelled:`, ...reported].join('\n');
}
