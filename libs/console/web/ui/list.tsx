import type { ComponentChildren, JSX } from 'preact';
import type { Pages } from '../data/use-pages.js';
import { Loading, Trouble } from './parts.js';
import { Table, type Column } from './table.js';

interface ListProps<T> {
  readonly label: string;
  readonly pages: Pages<T>;
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  readonly empty: ComponentChildren;
}

/** A list with its pages, and what is shown instead of it. */
export function List<T>({ label, pages, columns, keyOf, empty }: ListProps<T>): JSX.Element {
  const { items, error, hasMore, isHeld, more, reload } = pages;
  if (error && !items) return <Trouble error={error} retry={reload} />;
  if (!items) return <Loading />;
  return (
    <>
      {error && <Trouble error={error} retry={reload} />}
      {items.length === 0 ? empty : <Table label={label} columns={columns} rows={items} keyOf={keyOf} />}
      <footer class="more">
        {hasMore && (
          <button type="button" onClick={more}>
            Show more
          </button>
        )}
        {isHeld && (
          <>
            <span class="quiet">This list does not change while older items are shown.</span>
            <button type="button" class="plain" onClick={reload}>
              Back to the newest
            </button>
          </>
        )}
      </footer>
    </>
  );
}
