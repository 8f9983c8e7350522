import { z } from 'zod';
import { RENDER_LIMITS } from '../render/limits.js';
import { DIAGRAM_TYPES, OUTPUTS, type DiagramType } from '../render/types.js';

/** Kroki's other names of a type. */
export const ALIASES: Readonly<Record<string, DiagramType>> = { dot: 'graphviz', vegalite: 'vega-lite' };

export const MAX_SOURCE_BYTES = RENDER_LIMITS.sourceBytes;
/** A source grows as JSON: each quote and each line break takes two characters. */
export const MAX_BODY_BYTES = 3 * MAX_SOURCE_BYTES;

export const TypeName = z
  .enum([...DIAGRAM_TYPES, ...(Object.keys(ALIASES) as ['dot', 'vegalite'])])
  .transform((name) => typeNamed(name)!);

/** Body of `POST /v1/diagrams`. */
export const DiagramBody = z
  .strictObject({
    type: TypeName.describe('`dot` and `vegalite` are names of graphviz and vega-lite.'),
    source: z.string().min(1).describe(`At most ${MAX_SOURCE_BYTES} bytes.`),
    output: z.enum(OUTPUTS).default('svg'),
    owner: z.string().max(600).optional().describe('Whom it is for, as in trip:42. With him it goes.'),
  })
  .meta({ id: 'CreateDiagram' });
export type DiagramBody = z.output<typeof DiagramBody>;

export function typeNamed(name: string): DiagramType | undefined {
  return ALIASES[name] ?? DIAGRAM_TYPES.find((type) => type === name);
}
