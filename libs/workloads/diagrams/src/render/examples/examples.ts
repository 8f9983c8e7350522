import type { DiagramType } from '../types.js';

export interface Example {
  readonly name: string;
  readonly type: DiagramType;
  readonly source: string;
}

export const EXAMPLES: readonly Example[] = [
  { name: 'A small graph', type: 'graphviz', source: 'digraph { a -> b -> c; a -> c }' },
  {
    name: 'A few classes',
    type: 'nomnoml',
    source: '[Pirate|eyeCount: Int|raid();pillage()]\n[Pirate]->[Ship]',
  },
];
