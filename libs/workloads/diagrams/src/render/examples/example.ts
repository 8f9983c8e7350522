import type { DiagramType } from '../types.js';

/** A source to begin with. */
export interface Example {
  readonly name: string;
  readonly type: DiagramType;
  readonly source: string;
}

/** Without the indent that the code around it asks for. */
export function source(type: DiagramType): (text: TemplateStringsArray) => Pick<Example, 'type' | 'source'> {
  return ({ raw: [text = ''] }) => {
    const lines = text.replace(/^\n/, '').trimEnd().split('\n');
    const indent = Math.min(...lines.filter((line) => line.trim()).map((line) => line.search(/\S/)));
    return { type, source: `${lines.map((line) => line.slice(indent)).join('\n')}\n` };
  };
}
