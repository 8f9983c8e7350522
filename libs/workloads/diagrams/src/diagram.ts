import { z } from 'zod';
import type { DiagramInvalid } from './render/errors.js';
import { DIAGRAM_TYPES, OUTPUTS, type DiagramType, type Output } from './render/types.js';

/** An error in a source or in its rendering. */
const Flaw = z.object({
  message: z.string(),
  line: z.number().int().optional(),
  column: z.number().int().optional(),
});
export type Flaw = z.output<typeof Flaw>;

export function flawIn({ message, line, column }: DiagramInvalid): Flaw {
  return { message, line, column };
}

/** A diagram as it is stored. */
export interface DiagramRecord {
  readonly id: string;
  readonly type: DiagramType;
  readonly output: Output;
  readonly link: string;
  readonly createdAtMs: number;
  /** Absent until a job is enqueued. */
  readonly job: string | undefined;
  /** The job's second owner, besides the diagram; '' if none. */
  readonly by: string;
  /** The renderer; absent before the job starts. */
  readonly renderer: string | undefined;
  readonly flaw: Flaw | undefined;
  /** Parts of the source that the picture lacks. */
  readonly warnings: string[];
  /** True once every requester is gone. */
  readonly isOver: boolean;
}

const STATES = ['pending', 'rendering', 'completed', 'failed', 'cancelled', 'removed'] as const;
export type DiagramState = (typeof STATES)[number];

/** A diagram as callers see it. */
export const DiagramAnswer = z
  .object({
    id: z.string(),
    shortlink: z.string(),
    url: z.string().describe('Where its bytes are, or will be.'),
    state: z.enum(STATES),
    type: z.enum(DIAGRAM_TYPES),
    output: z.enum(OUTPUTS),
    job: z.string().nullable(),
    renderer: z
      .string()
      .nullable()
      .describe(
        'What draws it, with its version; who asks for it knows it at once, others once it is begun.',
      ),
    contentType: z.string().nullable(),
    bytes: z.number().int().nullable(),
    sha256: z.string().nullable(),
    error: Flaw.nullable().describe('What its renderer says of it.'),
    warnings: z
      .array(z.string())
      .describe('What the picture lacks of its source, as an image that is not fetched.'),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Diagram' });
export type DiagramView = z.output<typeof DiagramAnswer>;

export function isUnderWay({ state }: { readonly state: DiagramState }): boolean {
  return state === 'pending' || state === 'rendering';
}

export function hasPicture({ state }: { readonly state: DiagramState }): boolean {
  return state === 'completed';
}

/** The name of the artifact of a diagram's job. */
export function pictureName(output: Output): string {
  return `diagram.${output}`;
}
