import { instance } from '@viz-js/viz';
import { DiagramInvalid } from '../errors.js';
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
    throw new DiagramInvalid(message, { line: lineIn(message) });
  };
  return {
    draw: (source) => run(source, 'svg'),
    // This engine places nothing.
    check: (source) => void run(source, 'canon', 'nop'),
  };
}

function lineIn(message: string): number | undefined {
  const [, line] = /\bline (\d+)/.exec(message) ?? [];
  return line === undefined ? undefined : Number(line);
}
