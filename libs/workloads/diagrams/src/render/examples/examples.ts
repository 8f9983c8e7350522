import { BYTEFIELD } from './bytefield.js';
import { D2 } from './d2.js';
import { DBML } from './dbml.js';
import type { Example } from './example.js';
import { GRAPHVIZ } from './graphviz.js';
import { MERMAID } from './mermaid.js';
import { NOMNOML } from './nomnoml.js';
import { PIKCHR } from './pikchr.js';
import { SVGBOB } from './svgbob.js';
import { VEGA_LITE } from './vega-lite.js';
import { WAVEDROM } from './wavedrom.js';

export type { Example };

/** Two or three of each type; all of them are drawn by a test. */
export const EXAMPLES: readonly Example[] = [
  ...GRAPHVIZ,
  ...MERMAID,
  ...D2,
  ...NOMNOML,
  ...VEGA_LITE,
  ...WAVEDROM,
  ...PIKCHR,
  ...BYTEFIELD,
  ...SVGBOB,
  ...DBML,
];
