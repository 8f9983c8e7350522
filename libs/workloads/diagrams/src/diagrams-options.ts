/** Settings of an application for diagrams. */
export abstract class DiagramsOptions {
  /** Limit on heavy diagrams drawn at once in the whole fleet. */
  abstract readonly heavySlots: number;
  /** How long a one-call request waits for its picture, ms. */
  abstract readonly waitMs: number;
}
