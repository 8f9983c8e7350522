/** Knows whether enough servers hold a write. */
export interface Durability {
  /** Runs a write, waits for its confirmation, and answers whether it came. It fails only as the write does. */
  hold<T>(write: () => Promise<T>): Promise<{ readonly value: T; readonly isHeld: boolean }>;
}

/** What has to hold a write: a replica, or the disk of the server that took it. */
export type DurabilityLevel = 'replica' | 'disk';
