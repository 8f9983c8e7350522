/** The source is wrong; the message is its renderer's. Trying again does not help. */
export class DiagramInvalid extends Error {
  override readonly name = 'DiagramInvalid';
  readonly line?: number;
  readonly column?: number;

  constructor(message: string, at: Place = {}) {
    super(message);
    if (at.line !== undefined) this.line = at.line;
    if (at.column !== undefined) this.column = at.column;
  }
}

/** Counted from 1. */
export interface Place {
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

export type Limit = 'time' | 'memory' | 'size' | 'process';

/** The render asked for more than it is given, or its process died: nothing else was harmed. */
export class RenderLimit extends Error {
  override readonly name = 'RenderLimit';

  constructor(
    readonly limit: Limit,
    message: string,
  ) {
    super(message);
  }
}

/** As many renders of this weight run and wait as may. Nothing was begun. */
export class RendererBusy extends Error {
  override readonly name = 'RendererBusy';

  constructor(type: string) {
    super(`Too many diagrams like ${type} are being drawn. Try again later.`);
  }
}
