import type { Screen } from './output.js';
import { type Cell, type Fit, table } from './render/table.js';
import { ago, span } from './render/text.js';

/**
 * A column of a list: the name of a field, with another head before a colon (`job:id`), and with a mark if it is cut (`~`) or
 * left out (`?`) on a narrow terminal. Or its head, how to get its cell, and its fit.
 */
export type Column<Item> =
  | `${'' | `${string}:`}${keyof Item & string}${'' | '?' | '~'}`
  | readonly [head: string, of: (item: Item) => Cell, fit?: Fit];
type Read<Item> = readonly [head: string, of: (item: Item) => Cell, fit?: Fit];

export function tableOf<Item>(
  items: readonly Item[],
  columns: readonly Column<Item>[],
  screen: Screen,
): string {
  const read = columns.map(readColumn);
  return table(
    read.map(([head, , fit]) => (fit ? [head, fit] : head)),
    items.map((item) => read.map(([, of]) => of(item))),
    screen,
  );
}

function readColumn<Item>(column: Column<Item>): Read<Item> {
  if (typeof column !== 'string') return column;
  const [, head, field = '', mark] = /^(?:(.+):)?(\w+)([?~]?)$/.exec(column)!;
  const of = (item: Item): Cell => cellOf(item[field as keyof Item], field, head);
  return mark ? [head ?? field, of, mark === '~' ? 'cut' : 'drop'] : [head ?? field, of];
}

/** Durations are shown with units, and a time under the head `age` as how long ago it was. */
function cellOf(value: unknown, field: string, head: string | undefined): Cell {
  if (head === 'age' && typeof value === 'string') return ago(value);
  if (field.endsWith('Ms') && typeof value === 'number') return span(value);
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return value as Cell;
}
