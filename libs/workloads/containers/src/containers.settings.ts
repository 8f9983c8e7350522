/** What leases may be asked for. */
export abstract class LeaseLimits {
  /** An image stands for all its tags, unless it names one. */
  abstract readonly images: readonly string[];
  abstract readonly longestMs: number;
  /** How many there are at once. */
  abstract readonly places: number;
}

/** Where containers are made and ended. */
export abstract class ContainersSettings {
  /** What they are signed with. Absent: a secret that is kept in the store. */
  abstract readonly secret: string | undefined;
}
