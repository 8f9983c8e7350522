import type { DiagramType, Output } from './render/types.js';

/** An error in a source or in its rendering. */
export interface Flaw {
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
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
  readonly warnings: readonly string[];
  /** True once every requester is gone. */
  readonly isOver: boolean;
}

export const STATES = ['pending', 'rendering', 'completed', 'failed', 'cancelled', 'removed'] as const;
export type DiagramState = (typeof STATES)[number];

/** A diagram as callers see it. */
export interface DiagramView {
  readonly id: string;
  readonly shortlink: string;
  /** Address of the picture, before and after it is drawn. */
  readonly url: string;
  readonly state: DiagramState;
  readonly type: DiagramType;
  readonly output: Output;
  readonly job: string | null;
  /** The renderer with its version. */
  readonly renderer: string | null;
  readonly contentType: string | null;
  readonly bytes: number | null;
  readonly sha256: string | null;
  readonly error: Flaw | null;
  /** Parts of the source that the picture lacks. */
  readonly warnings: readonly string[];
  readonly createdAt: string;
}

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
