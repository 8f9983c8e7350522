/** Limits for new leases. */
export abstract class LeaseLimits {
  /** An image without a tag allows all its tags. */
  abstract readonly images: readonly string[];
  abstract readonly longestMs: number;
  /** Limit on concurrent leases. */
  abstract readonly places: number;
}

/** Settings of a process that creates and ends containers. */
export abstract class ContainersSettings {
  /** Signing key; undefined to use the one kept in the store. */
  abstract readonly secret: string | undefined;
}
