import type { DiagramType, Output } from './render/types.js';

/** What is wrong with a source, or with its render. */
export interface Flaw {
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

/** A diagram, as it is written down. */
export interface DiagramRecord {
  readonly id: string;
  readonly type: DiagramType;
  readonly output: Output;
  readonly link: string;
  readonly createdAtMs: number;
  /** Absent while it is enqueued. */
  readonly job: string | undefined;
  /** The owner that its job has beside the diagram itself, '' for none. */
  readonly by: string;
  /** What draws it; absent before it is begun. */
  readonly renderer: string | undefined;
  readonly flaw: Flaw | undefined;
  /** What its picture lacks of its source. */
  readonly warnings: readonly string[];
  /** All who asked for it are gone. */
  readonly isOver: boolean;
}

export const STATES = ['pending', 'rendering', 'completed', 'failed', 'cancelled', 'removed'] as const;
export type DiagramState = (typeof STATES)[number];

/** A diagram as a caller sees it. */
export interface DiagramView {
  readonly id: string;
  readonly shortlink: string;
  /** Where its bytes are, or will be. */
  readonly url: string;
  readonly state: DiagramState;
  readonly type: DiagramType;
  readonly output: Output;
  readonly job: string | null;
  /** What draws it, with its version. */
  readonly renderer: string | null;
  readonly contentType: string | null;
  readonly bytes: number | null;
  readonly sha256: string | null;
  readonly error: Flaw | null;
  /** What the picture lacks of its source. */
  readonly warnings: readonly string[];
  readonly createdAt: string;
}

export function isUnderWay({ state }: { readonly state: DiagramState }): boolean {
  return state === 'pending' || state === 'rendering';
}

export function hasPicture({ state }: { readonly state: DiagramState }): boolean {
  return state === 'completed';
}

/** Of its job. */
export function pictureName(output: Output): string {
  return `diagram.${output}`;
}
