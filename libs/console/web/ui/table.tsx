import type { ComponentChildren, JSX } from 'preact';

export interface Column<T> {
  readonly name: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Right-aligned, with digits of one width. */
  readonly isNumber?: boolean;
  /** Left out on a phone. */
  readonly isWide?: boolean;
  /** Cut off instead of wrapped; takes what room there is. */
  readonly isLong?: boolean;
}

interface TableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
}

export function Table<T>({ label, columns, rows, keyOf }: TableProps<T>): JSX.Element {
  return (
    <div class="table" role="group" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={classOf(column)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.name} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function classOf<T>({ isNumber, isWide, isLong }: Column<T>): string {
  return [isNumber && 'number', isWide && 'wide', isLong && 'long'].filter(Boolean).join(' ');
}
