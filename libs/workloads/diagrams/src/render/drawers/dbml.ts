import { run } from '@softwaretechnik/dbml-renderer';
import { DiagramInvalid } from '../errors.js';
import type { Drawer } from './drawer.js';
import { load as loadGraphviz } from './graphviz.js';

/** As a graph, which the Graphviz we have draws: the one in its package is old and catches the errors of its whole process. */
export function load(): Drawer {
  const graphviz = loadGraphviz();
  return { draw: (source) => graphviz.draw(graph(source)), check: (source) => void graph(source) };
}

function graph(source: string): string {
  try {
    return run(source, 'dot');
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw invalid(error as Error);
  }
}

function invalid({ message }: Error): DiagramInvalid {
  const [place, line, column] = / at line (\d+):(\d+)/.exec(message) ?? [];
  return new DiagramInvalid(message, place ? { line: Number(line), column: Number(column) } : {});
}
