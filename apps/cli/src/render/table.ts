import type { Screen } from '../output.js';
import { clean } from './text.js';
import { cut, width } from './width.js';

export type Cell = string | number | null | undefined;
/** On a narrow terminal a column is cut, or left out. All others keep their width for as long as possible: they are copied. */
export type Fit = 'cut' | 'drop';
export type Head = string | readonly [name: string, fit: Fit];

const GAP = '  ';
/** A text of this width still says what it is about. */
const READABLE = 24;
const SHORTEST = 8;

/** Aligned columns under a heading, as wide as the terminal at most. Columns that hold a number are aligned to the right. */
export function table(heads: readonly Head[], rows: readonly (readonly Cell[])[], screen: Screen): string {
  const names = heads.map((head) => (typeof head === 'string' ? head : head[0]));
  const fits = heads.map((head) => (typeof head === 'string' ? undefined : head[1]));
  const isNumeric = heads.map((_, i) => rows.some((row) => typeof row[i] === 'number'));
  const texts = rows.map((row) => heads.map((_, i) => clean(String(row[i] ?? ''))));
  const wanted = names.map((name, i) => Math.max(width(name), ...texts.map((row) => width(row[i]!))));
  const widths = fitted(wanted, fits, screen.width);
  const line = (cells: readonly string[]): string =>
    widths
      .flatMap((room, i) => {
        if (room === undefined) return [];
        const cell = cut(cells[i]!, room, fits[i] === 'cut' ? 'end' : 'middle');
        const gap = ' '.repeat(room - width(cell));
        return [isNumeric[i] ? gap + cell : cell + gap];
      })
      .join(GAP)
      .trimEnd();
  return [screen.paint('dim', line(names)), ...texts.map(line)].join('\n');
}

/** The widths of the columns that fit; undefined for one that is left out. */
function fitted(
  wanted: readonly number[],
  fits: readonly (Fit | undefined)[],
  room: number,
): (number | undefined)[] {
  const widths: (number | undefined)[] = [...wanted];
  const over = (least = Infinity): number => {
    const shown = widths.flatMap((one, i) =>
      one === undefined ? [] : fits[i] === 'cut' ? Math.min(one, least) : one,
    );
    return shown.reduce((sum, one) => sum + one, 0) + GAP.length * (shown.length - 1) - room;
  };
  /** Leaves out columns from the left, but not the first, until the rest fits when the others are cut to `least`. */
  const drop = (least: number, isMeant: (i: number) => boolean): void => {
    for (let i = 1; i < widths.length && over(least) > 0; i += 1) if (isMeant(i)) widths[i] = undefined;
  };
  /** Narrows the widest column, step by step. */
  const narrow = (least: number, isMeant: (i: number) => boolean): void => {
    for (let excess = over(); excess > 0; excess -= 1) {
      const widest = widths.reduce<number>((best, one, i) => {
        return one !== undefined && one > least && isMeant(i) && one > (widths[best] ?? least) ? i : best;
      }, -1);
      if (widest < 0) return;
      widths[widest]! -= 1;
    }
  };
  drop(READABLE, (i) => fits[i] === 'drop');
  narrow(SHORTEST, (i) => fits[i] === 'cut');
  // The first column has the ids, which are copied.
  narrow(SHORTEST, (i) => i > 0);
  narrow(SHORTEST, () => true);
  drop(SHORTEST, (i) => fits[i] !== 'cut');
  narrow(1, () => true);
  return widths;
}

/** One name and value per line. Names without a value are left out. */
export function facts(pairs: readonly (readonly [string, Cell])[], { paint }: Screen): string {
  const present = pairs.filter(([, value]) => value !== undefined && value !== null && value !== '');
  const widest = Math.max(0, ...present.map(([name]) => width(name)));
  return present
    .map(([name, value]) => `${paint('dim', name.padEnd(widest))}  ${clean(String(value))}`)
    .join('\n');
}

/** The parts that have something to show, with an empty line between them. */
export function sections(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}
