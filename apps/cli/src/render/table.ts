import type { Paint } from '../output.js';
import { clean } from './text.js';

export type Cell = string | number | undefined;

/** Aligned columns under a heading. Columns that hold a number are aligned to the right. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[], paint: Paint): string {
  const isNumeric = head.map((_, i) => rows.some((row) => typeof row[i] === 'number'));
  const texts = rows.map((row) => head.map((_, i) => clean(String(row[i] ?? ''))));
  const widths = head.map((name, i) => Math.max(...[name, ...texts.map((row) => row[i]!)].map(width)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => {
        const gap = ' '.repeat(widths[i]! - width(cell));
        return isNumeric[i] ? gap + cell : cell + gap;
      })
      .join('  ')
      .trimEnd();
  return [paint('dim', line(head)), ...texts.map(line)].join('\n');
}

/** One name and value per line. Names without a value are left out. */
export function facts(pairs: readonly (readonly [string, Cell])[], paint: Paint): string {
  const present = pairs.filter(([, value]) => value !== undefined && value !== '');
  const widest = Math.max(0, ...present.map(([name]) => width(name)));
  return present
    .map(([name, value]) => `${paint('dim', name.padEnd(widest))}  ${clean(String(value))}`)
    .join('\n');
}

function width(text: string): number {
  return Array.from(text).length;
}
