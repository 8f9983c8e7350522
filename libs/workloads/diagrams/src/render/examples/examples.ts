import { readFileSync } from 'node:fs';
import type { DiagramType } from '../types.js';

/** A source to begin with. */
export interface Example {
  readonly name: string;
  readonly type: DiagramType;
  readonly source: string;
}

/** Two or three of each type; all of them are drawn by a test. */
const NAMES: Readonly<Record<DiagramType, readonly string[]>> = {
  graphviz: ['Delivery pipeline', 'Orders schema', 'Connection states'],
  mermaid: ['Sign-in', 'Refund decision', 'Order states'],
  d2: ['Web platform', 'Ticket life'],
  nomnoml: ['Library', 'Incident process'],
  'vega-lite': ['Requests by hour', 'Build times'],
  wavedrom: ['Bus handshake', 'Instruction word'],
  pikchr: ['Compiler passes', 'Request through a cache'],
  bytefield: ['UDP packet', 'Message header'],
  svgbob: ['Two zones', 'Retry loop'],
  dbml: ['Blog', 'Bookings'],
};

/** The source of `Order states` is in `order-states.txt`, in the folder of its type. */
export const EXAMPLES: readonly Example[] = (Object.keys(NAMES) as DiagramType[]).flatMap((type) =>
  NAMES[type].map((name) => {
    const file = `${type}/${name.toLowerCase().replaceAll(' ', '-')}.txt`;
    return { name, type, source: readFileSync(new URL(file, import.meta.url), 'utf8') };
  }),
);
