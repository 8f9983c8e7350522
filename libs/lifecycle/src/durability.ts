/** Knows whether enough servers hold a write; handed in by the application. */
export interface Durability {
  /** Runs a write, waits for its confirmation, and answers whether it came. It fails only as the write does. */
  hold<T>(write: () => Promise<T>): Promise<{ readonly value: T; readonly isHeld: boolean }>;
}

/** Runs a write, and waits for its confirmation where there is `durability`; without, `isHeld` is undefined. */
export async function holdWrite<T>(
  durability: Durability | undefined,
  write: () => Promise<T>,
): Promise<{ readonly value: T; readonly isHeld: boolean | undefined }> {
  return durability ? durability.hold(write) : { value: await write(), isHeld: undefined };
}
