export const DIAGRAM_TYPES = [
  'graphviz',
  'mermaid',
  'd2',
  'nomnoml',
  'vega-lite',
  'wavedrom',
  'pikchr',
  'bytefield',
  'svgbob',
  'dbml',
] as const;
export type DiagramType = (typeof DIAGRAM_TYPES)[number];

export const OUTPUTS = ['svg', 'png'] as const;
export type Output = (typeof OUTPUTS)[number];
export const CONTENT_TYPES: Readonly<Record<Output, string>> = { svg: 'image/svg+xml', png: 'image/png' };

export interface RenderRequest {
  readonly type: DiagramType;
  readonly source: string;
  readonly output: Output;
}

export interface Rendered {
  readonly bytes: Buffer;
  readonly contentType: string;
  /** Which renderer drew it, with its version: `@viz-js/viz 3.31.0`. */
  readonly renderer: string;
  /** What the picture lacks of its source. */
  readonly warnings: readonly string[];
}
