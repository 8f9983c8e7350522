import { instance } from '@viz-js/viz';
import { setImmediate as turn } from 'node:timers/promises';
import { DiagramInvalid, type Place } from '../errors.js';
import type { Drawer } from './drawer.js';

/** Without fonts Graphviz estimates widths, and knows those of Arial. */
const FONT = { fontname: 'Arial' };

type Viz = Awaited<ReturnType<typeof instance>>;

export function load(make: () => Promise<Viz> = instance): Drawer {
  const take = instances(make);
  return {
    draw: async (source) => run(await take(), source, 'svg'),
    // This engine places nothing.
    check: async (source) => void run(await take(), source, 'canon', 'nop'),
  };
}

/**
 * An instance for each graph: some graphs leave the memory of theirs damaged, and the next graph would trap in it. The next
 * instance is made while there is nothing to draw. One that cannot be made fails the graph that waits for it, and no other.
 */
function instances(make: () => Promise<Viz>): () => Promise<Viz> {
  let next = make();
  next.catch(() => undefined);
  return async () => {
    try {
      return await next;
    } finally {
      next = turn().then(make);
      next.catch(() => undefined);
    }
  };
}

function run(viz: Viz, source: string, format: string, engine?: string): string {
  const result = viz.render(source, {
    format,
    ...(engine && { engine }),
    graphAttributes: FONT,
    nodeAttributes: FONT,
    edgeAttributes: FONT,
  });
  if (result.status === 'success') return result.output;
  const errors = result.errors.filter(({ level }) => level !== 'warning').map(({ message }) => message);
  const message = errors.join(' ') || 'Graphviz could not draw this.';
  throw new DiagramInvalid(message, placeIn(source, message));
}

/** It says the line, and often what it met there: where that is in the line only once, it is known in which column. */
function placeIn(source: string, message: string): Place {
  const [, number, met] = /\bline (\d+)(?: near '(.+)')?/.exec(message) ?? [];
  if (number === undefined) return {};
  const line = Number(number);
  const [before, ...after] = met === undefined ? [] : (source.split('\n')[line - 1] ?? '').split(met);
  return { line, ...(after.length === 1 && { column: before!.length + 1 }) };
}
