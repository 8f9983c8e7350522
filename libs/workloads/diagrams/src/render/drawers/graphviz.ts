import { instance } from '@viz-js/viz';
import { DiagramInvalid, type Place } from '../errors.js';
import type { Drawer } from './drawer.js';

/** Without fonts Graphviz estimates widths, and knows those of Arial. */
const FONT = { fontname: 'Arial' };

export async function load(): Promise<Drawer> {
  const viz = await instance();
  const run = (source: string, format: string, engine?: string): string => {
    const result = viz.render(source, {
      format,
      ...(engine && { engine }),
      graphAttributes: FONT,
      nodeAttributes: FONT,
      edgeAttributes: FONT,
    });
    if (result.status === 'success') return result.output;
    const said = result.errors.filter(({ level }) => level !== 'warning').map(({ message }) => message);
    const message = said.join(' ') || 'Graphviz could not draw this.';
    throw new DiagramInvalid(message, placeIn(source, message));
  };
  return {
    draw: (source) => run(source, 'svg'),
    // This engine places nothing.
    check: (source) => void run(source, 'canon', 'nop'),
  };
}

/** It says the line, and often what it met there: where that is in the line only once, it is known in which column. */
function placeIn(source: string, message: string): Place {
  const [, number, met] = /\bline (\d+)(?: near '(.+)')?/.exec(message) ?? [];
  if (number === undefined) return {};
  const line = Number(number);
  const [before, ...after] = met === undefined ? [] : (source.split('\n')[line - 1] ?? '').split(met);
  return { line, ...(after.length === 1 && { column: before!.length + 1 }) };
}
