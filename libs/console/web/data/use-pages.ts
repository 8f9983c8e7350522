import { useState } from 'preact/hooks';
import { useRead, type ReadOptions } from './use-read.js';

export interface Page<T> {
  readonly items: readonly T[];
  readonly cursor: string | null;
}

export interface Pages<T> {
  /** Undefined until the first page is read. */
  readonly items: readonly T[] | undefined;
  readonly error: Error | undefined;
  readonly hasMore: boolean;
  /** Older pages are shown: the list stays as it is. */
  readonly isHeld: boolean;
  readonly more: () => void;
  readonly reload: () => void;
}

/** A filter that little matches answers empty pages: go on for a while. */
const MOST_EMPTY_PAGES = 20;

/** A list whose first page follows what changes, until older pages are asked for. */
export function usePages<T>(
  read: (cursor: string | undefined) => Promise<Page<T>>,
  of: readonly unknown[],
  { when }: ReadOptions<unknown> = {},
): Pages<T> {
  const current = JSON.stringify(of);
  const [older, setOlder] = useState<{ of: string; pages: readonly Page<T>[] }>({ of: current, pages: [] });
  const pages = older.of === current ? older.pages : [];
  const isHeld = pages.length > 0;
  const first = useRead(() => readSome(read, undefined), of, { when: (event) => !isHeld && !!when?.(event) });
  const cursor = (pages.at(-1) ?? first.data)?.cursor ?? null;

  return {
    items: first.data && [first.data, ...pages].flatMap(({ items }) => items),
    error: first.error,
    hasMore: cursor !== null,
    isHeld,
    more: () =>
      void readSome(read, cursor ?? undefined).then((page) =>
        setOlder({ of: current, pages: [...pages, page] }),
      ),
    reload: () => {
      setOlder({ of: current, pages: [] });
      first.reload();
    },
  };
}

async function readSome<T>(
  read: (cursor: string | undefined) => Promise<Page<T>>,
  from: string | undefined,
): Promise<Page<T>> {
  let page = await read(from);
  for (let i = 0; i < MOST_EMPTY_PAGES && page.items.length === 0 && page.cursor !== null; i += 1) {
    page = await read(page.cursor);
  }
  return page;
}
