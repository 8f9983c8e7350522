/** Knows whether enough servers hold a write; handed in by the application. */
export interface Durability {
  /** Runs a write, waits for its confirmation, and answers whether it came. It fails only as the write does. */
  hold<T>(write: () => Promise<T>): Promise<{ readonly value: T; readonly isHeld: boolean }>;
}
