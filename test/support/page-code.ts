/** What a page of the manual says to write: whole files, and lines to add to files that are there. */
export interface PageCode {
  /** By path. */
  readonly files: ReadonlyMap<string, string>;
  /** By path, as `diff` blocks: each added line stands below the line that the file has. */
  readonly additions: ReadonlyMap<string, string>;
}

/** A heading that is nothing but a path, and the block below it. */
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
 * The text with the lines of a `diff` block added, but for those that stand there: somebody followed the page before. A line
 * that is shown and not there, or twice, is an error.
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
