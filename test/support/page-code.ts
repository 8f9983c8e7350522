/** The code that a page of the manual tells a reader to write: whole files, and lines to add to existing files. */
export interface PageCode {
  /** By path. */
  readonly files: ReadonlyMap<string, string>;
  /** By path, as `diff` blocks: each added line follows a line of the file. */
  readonly additions: ReadonlyMap<string, string>;
}

/** A heading that is only a path, and the block below it. */
const BLOCK = /^### `([^`\n]+)`\n\n```(ts|diff)\n(.*?)^```$/gms;

export function codeOf(page: string): PageCode {
  const blocks = [...page.matchAll(BLOCK)].map(([, path, language, text]) => ({ path, language, text }));
  const of = (wanted: string): ReadonlyMap<string, string> =>
    new Map(
      blocks.filter(({ language }) => language === wanted).map(({ path, text }) => [path!, text!] as const),
    );
  return { files: of('ts'), additions: of('diff') };
}

/**
 * The text with the added lines of a `diff` block, except lines that are already there because a reader followed the
 * page. A context line that is missing or not unique is an error.
 */
export function withLines(text: string, diff: string): string {
  const lines = text.split('\n');
  let at = -1;
  for (const line of diff.trimEnd().split('\n')) {
    const shown = line.slice(1);
    if (!line.startsWith('+')) at = positionOf(shown, lines);
    else if (lines[(at += 1)] !== shown) lines.splice(at, 0, shown);
  }
  return lines.join('\n');
}

function positionOf(shown: string, lines: readonly string[]): number {
  const found = lines.flatMap((line, i) => (line === shown ? [i] : []));
  if (found.length !== 1)
    throw new Error(`There ${found.length === 0 ? 'is no' : 'are several'} "${shown}".`);
  return found[0]!;
}
