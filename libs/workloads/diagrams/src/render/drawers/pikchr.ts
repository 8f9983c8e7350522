import loadPikchr from 'pikchr-js';
import { DiagramInvalid } from '../errors.js';
import type { Drawer } from './drawer.js';
import { withPlainEntities } from './html-entities.js';

/** What it prints before each line of a source that it could not read. */
const MARGIN = /^\/\* +(\d+) \*\/ {2}/;

export async function load(): Promise<Drawer> {
  const pikchr = await loadPikchr();
  const draw = (source: string): string => {
    const { svg, width } = pikchr.render(source, 'pikchr', pikchr.flags.PLAINTEXT_ERRORS);
    // What the source prints comes before the drawing.
    if (width > 0) return withPlainEntities(svg.slice(svg.indexOf('<svg')));
    throw width < 0 ? invalid(svg) : new DiagramInvalid('Nothing is drawn.');
  };
  return { draw, check: (source) => void draw(source) };
}

/** It shows the lines so far, marks the place below the last with carets, and then says what is wrong. */
function invalid(said: string): DiagramInvalid {
  const lines = said.split('\n');
  const last = lines.findLastIndex((line) => MARGIN.test(line));
  const [margin = '', line] = MARGIN.exec(lines[last] ?? '') ?? [];
  const column = (lines[last + 1] ?? '').indexOf('^') - margin.length + 1;
  const message = /ERROR: (.*)/.exec(said)?.[1] ?? 'Pikchr could not draw this.';
  return new DiagramInvalid(message, line ? { line: Number(line), ...(column > 0 && { column }) } : {});
}
