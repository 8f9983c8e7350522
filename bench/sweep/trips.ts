/** The number of trips whose jobs wait, and the number of jobs of each. */
export interface Shape {
  readonly trips: number;
  readonly each: number;
}

const ONE_IN = 10;

export function tripIds({ trips }: Shape): string[] {
  return Array.from({ length: trips }, (_, i) => String(i));
}

export function isGone(tripId: string): boolean {
  return Number(tripId) % ONE_IN === 0;
}

/** Of two of them that is known beforehand. */
export const KNOWN = { alive: '1', gone: '0' };
