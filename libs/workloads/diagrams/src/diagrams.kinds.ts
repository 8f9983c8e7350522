import { defineKind, owner, type Owner } from '#lifecycle';
import { z } from 'zod';
import { RENDER_LIMITS } from './render/limits.js';
import { DIAGRAM_TYPES, OUTPUTS, type DiagramType } from './render/types.js';

/** A character may take six as JSON. What a source may have is checked before. */
const MAX_PAYLOAD_BYTES = 6 * RENDER_LIMITS.sourceBytes + 1_000;

/**
 * Draws a diagram: its primary owner. Whoever asked for it first may be another owner of it. A source that is wrong is not tried
 * again; a renderer that died is, once.
 */
export const render = defineKind({
  name: 'diagrams.render',
  queue: 'diagrams',
  payload: z.strictObject({
    type: z.enum(DIAGRAM_TYPES),
    output: z.enum(OUTPUTS),
    source: z.string(),
  }),
  maxPayloadBytes: MAX_PAYLOAD_BYTES,
  attempts: 2,
  backoff: { type: 'fixed', delay: '200ms' },
  timeout: '2m',
  dedup: { strategy: 'skip' },
  // Asked for by name it would be nobody's diagram.
  offered: false,
});

export const OWNER_TYPE = 'diagram';

export function diagramOwner(id: string): Owner {
  return owner(OWNER_TYPE, id);
}

/** They take long, or much memory. Only so many of them at once, so that the light ones find room beside them. */
const HEAVY: ReadonlySet<DiagramType> = new Set(['d2', 'dbml', 'mermaid', 'vega-lite']);
export const HEAVY_SLOT = 'diagrams:heavy';

export function isHeavy(type: DiagramType): boolean {
  return HEAVY.has(type);
}
