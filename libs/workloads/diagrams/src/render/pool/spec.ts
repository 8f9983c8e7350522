/** What the processes of a pool are like. */
export interface PoolSpec {
  readonly setup: Setup;
  /** How many there may be; each does one thing at a time. */
  readonly processes: number;
  /** Node's heap, and all memory that it and what it started have to themselves. */
  readonly heapMb: number;
  readonly memoryMb: number;
  /** Whether what it loads makes code of text. */
  readonly evaluates?: boolean;
  /** Whether its WebAssembly is compiled quickly and never optimized, which pays for a large program that draws little. */
  readonly compilesQuickly?: boolean;
  /** Whether it draws once: what is made of one source could await the next. */
  readonly drawsOnce?: boolean;
  /** How long it may take to be ready, and to load what draws. */
  readonly startMs?: number;
  /** Is told when a browser runs without walls of its own. */
  readonly onOpen?: () => void;
  readonly idleMs: number;
  readonly renders: number;
}

/** What a process is for: to draw, to draw with a browser, or to make safe what was drawn, with the fonts of that folder behind ours. */
export type Setup =
  | { readonly role: 'draw' }
  | { readonly role: 'browse'; readonly chromium: string }
  | { readonly role: 'finish'; readonly fonts?: string | undefined };
