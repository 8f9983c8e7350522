import { owner, type Owner } from '#core';
import { defineKind } from '#nestjs';
import { z } from 'zod';
import { DRAWERS } from './render/drawers/load.js';
import { RENDER_LIMITS } from './render/limits.js';
import { DIAGRAM_TYPES, OUTPUTS, type DiagramType } from './render/types.js';

/** One character may take six bytes as JSON. The length of the source is checked before. */
const MAX_PAYLOAD_BYTES = 6 * RENDER_LIMITS.sourceBytes + 1_000;

/**
 * Draws a diagram, the job's primary owner. The owner that requested it first may be the second. An invalid
 * source is not retried; a dead renderer is, once.
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
  artifacts: true,
  // A job enqueued by name would draw no stored diagram.
  offered: false,
});

export const OWNER_TYPE = 'diagram';
export const HEAVY_SLOT = 'diagrams:heavy';

export function diagramOwner(id: string): Owner {
  return owner(OWNER_TYPE, id);
}

/** Types that take long or much memory. They share a slot limit, so that light ones find free workers. */
export function isHeavy(type: DiagramType): boolean {
  return type === 'mermaid' || DRAWERS[type].weight !== 'light';
}
