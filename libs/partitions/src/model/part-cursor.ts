/** Where a walk through all partitions goes on: <partition>.<cursor there>. */
export interface PartCursor {
  readonly at: number;
  readonly cursor: string | undefined;
}

export function readPartCursor(text: string | undefined): PartCursor {
  if (text === undefined) return { at: 0, cursor: undefined };
  const dot = text.indexOf('.');
  return { at: Number(text.slice(0, dot)), cursor: text.slice(dot + 1) || undefined };
}

/** The cursor behind a page of a partition; nothing after the last page of the last. */
export function cursorBehind(at: number, of: number, cursor: string | undefined): string | undefined {
  if (cursor !== undefined) return `${at}.${cursor}`;
  return at + 1 < of ? `${at + 1}.` : undefined;
}
