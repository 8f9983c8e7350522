import type { Receipt } from '#client';
import type { JSX } from 'preact';
import { number } from '../ui/format.js';
import { Table, type Column } from '../ui/table.js';

interface Row {
  readonly queue: string;
  readonly removed: Readonly<Record<string, number>>;
  readonly aborted: number;
  readonly running: number;
}

/** Of each queue: how many jobs went from which state, and how many runs were told to stop. */
export function ByQueue({ receipt }: { readonly receipt: Receipt }): JSX.Element | null {
  const rows = Object.entries(receipt.byQueue).map(([queue, row]): Row => ({ queue, ...row }));
  if (rows.length === 0) return null;
  const states = [...new Set(rows.flatMap(({ removed }) => Object.keys(removed)))].toSorted((a, b) =>
    a.localeCompare(b),
  );
  const columns: Column<Row>[] = [
    { name: 'Queue', cell: ({ queue }) => queue, isLong: true },
    ...states.map((state) => counted(state, ({ removed }: Row) => removed[state] ?? 0)),
    counted('runs told to stop', ({ aborted }: Row) => aborted),
    ...(receipt.dryRun ? [] : [counted('still running', ({ running }: Row) => running)]),
  ];
  return <Table label="By queue and state" columns={columns} rows={rows} keyOf={({ queue }) => queue} />;
}

function counted(name: string, of: (row: Row) => number): Column<Row> {
  return { name, isNumber: true, cell: (row) => number(of(row)) };
}
