import type { Limit } from '../errors.js';
import type { DiagramType, Output } from '../types.js';

/** What a process of ours is told, one thing at a time. */
export type Task =
  | { readonly do: 'draw'; readonly type: DiagramType; readonly source: string }
  | { readonly do: 'check'; readonly type: DiagramType; readonly source: string }
  | {
      readonly do: 'finish';
      readonly svg: string;
      readonly output: Output;
      readonly outputBytes: number;
      readonly pixels: number;
    };

/** What it answers. `worn` says that it should not be used again. */
export type Answer =
  | { readonly said: 'drawn'; readonly svg: string }
  | { readonly said: 'checked' }
  | { readonly said: 'finished'; readonly bytes: Uint8Array }
  | {
      readonly said: 'invalid';
      readonly message: string;
      readonly line?: number | undefined;
      readonly column?: number | undefined;
      readonly worn: boolean;
    }
  | { readonly said: 'limit'; readonly limit: Limit; readonly message: string };

/** What it says once, when it can be told something; `also` is the leader of another process group that is its own. */
export interface Ready {
  readonly said: 'ready';
}

export interface Group {
  readonly said: 'group';
  readonly leader: number;
}

export type Word = Answer | Ready | Group;
