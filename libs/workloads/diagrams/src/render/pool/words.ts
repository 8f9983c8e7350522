import type { DrawerName } from '../drawers/load.js';
import type { Limit } from '../errors.js';
import type { Output } from '../types.js';

/** What a process of ours is told, one thing at a time. */
export type Task =
  | { readonly do: 'load'; readonly drawer: DrawerName }
  | { readonly do: 'check'; readonly drawer: DrawerName; readonly source: string }
  | {
      readonly do: 'draw';
      readonly drawer: DrawerName;
      readonly source: string;
      readonly outputBytes: number;
    }
  | {
      readonly do: 'finish';
      readonly svg: string;
      readonly output: Output;
      readonly outputBytes: number;
      readonly pixels: number;
    };

/** Some renderers say the whole source again. */
const LONGEST_MESSAGE = 1_000;

export function cut(message: unknown): string {
  const text = String(message);
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE - 1)}…` : text;
}

/** What it answers. After `worn` it should not be asked again. */
export type Answer =
  | { readonly said: 'drawn'; readonly svg: string }
  | { readonly said: 'loaded' | 'checked' }
  | { readonly said: 'finished'; readonly bytes: Uint8Array; readonly warnings: readonly string[] }
  | {
      readonly said: 'invalid';
      readonly message: string;
      readonly line?: number | undefined;
      readonly column?: number | undefined;
      readonly worn: boolean;
    }
  | { readonly said: 'limit'; readonly limit: Limit; readonly message: string };

/** What it says once, when it can be told something: also which process group, if any, belongs to it. */
export interface Ready {
  readonly said: 'ready';
  readonly group?: number | undefined;
  /** Whether its browser runs without walls of its own. */
  readonly isOpen?: boolean;
}

export type Word = Answer | Ready;
