/** Knows whether enough servers hold a write. */
export interface Durability {
  /** Runs a write, waits for its confirmation, and answers whether it came. It fails only as the write does. */
  hold<T>(write: () => Promise<T>): Promise<{ readonly value: T; readonly isHeld: boolean }>;
}

export type DurabilityLevel = 'replica' | 'disk';

/** What an answer waits for: nothing, a replica, or the disk of the server that took the write. */
export interface DurabilityOptions {
  readonly level: 'none' | DurabilityLevel;
  /** How long a caller waits for it. Default 1 s. */
  readonly timeoutMs?: number;
}
