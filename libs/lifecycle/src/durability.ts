/** Knows whether enough servers hold a write; handed in by the application. */
export interface Durability {
  /** Runs a write, waits for the servers that have to hold it, and answers whether they do. It fails only as the write does. */
  hold<T>(write: () => Promise<T>): Promise<{ readonly value: T; readonly isHeld: boolean }>;
}
