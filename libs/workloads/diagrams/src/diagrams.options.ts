/** What an application says of diagrams. */
export abstract class DiagramsOptions {
  /** How many heavy ones are drawn at once, over the whole fleet. */
  abstract readonly heavySlots: number;
  /** How long a caller waits for a picture that is asked for in one call, ms. */
  abstract readonly waitMs: number;
}

export const DIAGRAMS_DEFAULTS = { heavySlots: 4, waitMs: 10_000 } as const;
