import { parseFragment } from 'parse5';
import loadPikchr from 'pikchr-js';
import { DiagramInvalid } from '../errors.js';
import { escaped } from '../escape.js';
import type { Drawer } from './drawer.js';

/** What it prints before each line of a source that it could not read. */
const MARGIN = /^\/\* +(\d+) \*\/ {2}/;
const XML_ENTITIES = new Set(['quot', 'amp', 'lt', 'gt', 'apos']);

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

/** Markup in which only names are left that XML knows. One that HTML does not know either is text, as in a browser. */
function withPlainEntities(markup: string): string {
  return markup.replace(/&([A-Za-z]\w*);/g, (entity, name: string) =>
    XML_ENTITIES.has(name) ? entity : escaped(textOf(entity)),
  );
}

function textOf(entity: string): string {
  const [node] = parseFragment(entity).childNodes;
  return node && 'value' in node ? node.value : entity;
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
